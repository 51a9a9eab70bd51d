/**
 * How much of a set may go at once. Above the limit a mistake is likelier than an intention: of the watch, of a label, of
 * a config. What follows is the caller's: backends of LBCF are confirmed by a read of the API server, members of pools
 * stay until an operator releases them.
 */
export interface ShareLimit {
  /** Of the set, from 0 to 1. More than that is too much. */
  readonly share: number;
  /** Fewer than that never are. */
  readonly minimum: number;
}

export function exceedsShare(gone: number, total: number, { share, minimum }: ShareLimit): boolean {
  return gone >= minimum && gone > share * total;
}

/** `30%` as 0.3; `undefined` where it is none from 0% to 100%. */
export function parseShare(text: string): number | undefined {
  const percent = Number(/^(\d{1,3})%$/.exec(text.trim())?.[1]);
  return percent <= 100 ? percent / 100 : undefined;
}
