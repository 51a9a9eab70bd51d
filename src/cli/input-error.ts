/**
 * The user gave something that cannot be used: a wrong flag, file or value.
 * The message names the key, the value and the fix; the command ends with exit code 2.
 */
export class InputError extends Error {
  override readonly name = "InputError";
}

/** What a server's start threw, as an `InputError` where the user chose a port that somebody else has. */
export function portErrorOf(error: unknown): unknown {
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  return code === "EADDRINUSE" ? new InputError(`port ${port} is in use; choose another one`) : error;
}
