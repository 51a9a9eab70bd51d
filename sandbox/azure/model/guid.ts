/** GUIDs derived from a text: equal texts give equal GUIDs. Not for secrets. */

const PRIME = 0x01000193;

function finish(hash: number): string {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return ((mixed ^ (mixed >>> 16)) >>> 0).toString(16).padStart(8, "0");
}

/** Four hashes in one pass over the text, each with its own seed and step. */
export function derivedGuid(text: string): string {
  let [a, b, c, d] = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, PRIME);
    b = Math.imul(b ^ code, 0x85ebca77);
    c = Math.imul((c ^ code) + (a >>> 7), PRIME);
    d = Math.imul((d ^ code) + (b >>> 9), 0xc2b2ae3d);
  }
  const [first, second, third, fourth] = [finish(a), finish(b), finish(c), finish(d)];
  return `${first}-${second.slice(0, 4)}-4${second.slice(5)}-8${third.slice(1, 4)}-${third.slice(4)}${fourth}`;
}
