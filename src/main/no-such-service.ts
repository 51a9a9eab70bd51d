/** A command names a Service that does not exist or that the controller does not serve. */
import type { Service } from "../core/model/kubernetes.ts";
import { unservedText } from "../core/view/unserved.ts";

export class NoSuchService extends Error {
  override readonly name = "NoSuchService";

  constructor(key: string, found: Service | undefined) {
    super(unservedText(key, found));
  }
}
