/**
 * The user gave something that cannot be used: a wrong flag, file or value.
 * The message names the key, the value and the fix; the command ends with exit code 2.
 */
export class InputError extends Error {
  override readonly name = "InputError";
}
