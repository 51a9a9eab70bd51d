/** Where the files are that the program reads besides its code: in the repository, or beside the bundle. */
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";

/** `path`: as in the repository. */
export function shippedFile(path: string): string {
  const description = findPackageJSON(import.meta.url);
  if (description === undefined) throw new Error(`${path} is missing: there is no package.json beside the program`);
  return join(dirname(description), path);
}
