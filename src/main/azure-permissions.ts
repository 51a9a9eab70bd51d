/** Whether permissions of Azure, as they are listed for a scope, allow an action. */
export interface Permission {
  readonly actions?: readonly string[];
  readonly notActions?: readonly string[];
}

/** Allowed by one entry that does not take it back; `*` stands for any text, and case does not matter. */
export function isAllowed(action: string, permissions: readonly Permission[]): boolean {
  return permissions.some(
    ({ actions = [], notActions = [] }) =>
      actions.some((pattern) => matches(action, pattern)) && !notActions.some((pattern) => matches(action, pattern)),
  );
}

function matches(action: string, pattern: string): boolean {
  const escaped = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${escaped.join(".*")}$`, "i").test(action);
}
