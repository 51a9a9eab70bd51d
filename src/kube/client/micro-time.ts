/** Leases and events want exactly six digits after the point; the server refuses three. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
