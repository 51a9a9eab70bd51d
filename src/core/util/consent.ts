/** Whether a list of namespaces, as an owner's annotation has it, lets a namespace in. */
const EVERY_NAMESPACE = "*";

export function admits(namespaces: readonly string[], namespace: string): boolean {
  return namespaces.some((one) => one === namespace || one === EVERY_NAMESPACE);
}
