/** Someone handed in a value that cannot be used; the message names the key, the value and the fix. */
export class BadInput extends Error {
  override readonly name = "BadInput";
}
