/**
 * Invalid input of the user: a flag, file or value. The message names the key, the value and the fix; the command exits
 * with code 2.
 */
export class InputError extends Error {
  override readonly name = "InputError";
}

/** Turns the error of a port that is in use into an `InputError`; returns other errors as they are. */
export function portErrorOf(error: unknown): unknown {
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  return code === "EADDRINUSE" ? new InputError(`port ${port} is in use; choose another one`) : error;
}
