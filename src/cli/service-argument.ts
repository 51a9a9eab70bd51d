/** How commands name a Service: `service/NAME` (or `svc/NAME`, or the name alone), with `-n NAMESPACE`. */
import { InputError } from "./input-error.ts";

/** `namespace/name`. */
export function parseServiceArgument(text: string, namespace: string): string {
  const match = /^(?:(service|services|svc)\/)?([a-z0-9]([a-z0-9-]*[a-z0-9])?)$/.exec(text);
  if (match === null)
    throw new InputError(`"${text}" is not the name of a Service: use service/NAME, and -n NAMESPACE`);
  return `${namespace}/${match[2]}`;
}
