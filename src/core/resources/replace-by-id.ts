import { sameId } from "../model/ids.ts";

/** The list with `body` in the place of what has this id, or at its end; without it where `body` is `undefined`. */
export function replaceById<Body extends { readonly id: string }>(
  list: readonly Body[],
  id: string,
  body: Body | undefined,
): Body[] {
  const isThere = list.some((one) => sameId(one.id, id));
  const rest = list.flatMap((one) => (sameId(one.id, id) ? (body ?? []) : one));
  return isThere || body === undefined ? rest : [...rest, body];
}
