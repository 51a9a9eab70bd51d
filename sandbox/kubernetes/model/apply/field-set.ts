/**
 * Sets of fields in the form in which `managedFields` has them (FieldsV1), so that nothing is converted:
 *
 *   {"f:spec": {"f:type": {}, "f:ports": {".": {}, "k:{\"port\":80}": {".": {}, "f:name": {}}}}}
 *
 * A field is in the set if its node is empty or has ".". Sets are immutable; an operation that changes nothing returns
 * its first operand, and callers rely on that to see that nothing changed.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

export const NO_FIELDS: FieldSet = {};
/** The node of a field that is in the set and has no parts in it. */
export const MEMBER: FieldSet = {};
const SELF = ".";

export function isEmpty(set: FieldSet): boolean {
  for (const element in set) if (element !== SELF) return false;
  return true;
}

export function isMember(node: FieldSet | undefined): boolean {
  return node !== undefined && (node[SELF] !== undefined || isEmpty(node));
}

/** The parts of a node, without the mark of the node itself. */
export function partsOf(node: FieldSet | undefined): FieldSet {
  if (node === undefined) return NO_FIELDS;
  if (node[SELF] === undefined) return node;
  const { [SELF]: _self, ...parts } = node;
  return parts;
}

/** A node; undefined if neither it nor a part is in the set. */
export function nodeOf(member: boolean, parts: FieldSet): FieldSet | undefined {
  if (isEmpty(parts)) return member ? MEMBER : undefined;
  return member ? { [SELF]: MEMBER, ...parts } : parts;
}

export function union(left: FieldSet, right: FieldSet): FieldSet {
  let result: Record<string, FieldSet> | undefined;
  for (const element of Object.keys(right)) {
    const before = left[element];
    const after = before === undefined ? right[element] : joined(before, right[element] ?? MEMBER);
    if (after === before || after === undefined) continue;
    result ??= { ...left };
    result[element] = after;
  }
  return result ?? left;
}

function joined(left: FieldSet, right: FieldSet): FieldSet {
  const member = isMember(left) || isMember(right);
  const before = partsOf(left);
  const parts = union(before, partsOf(right));
  if (parts === before && member === isMember(left)) return left;
  return nodeOf(member, parts) ?? MEMBER;
}

/** The fields of `left` that are not in `right`; a part stays where only its whole is in `right`. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  return without(left, right, false);
}

/** The same, but a part goes with its whole. */
export function excluding(left: FieldSet, right: FieldSet): FieldSet {
  return without(left, right, true);
}

function without(left: FieldSet, right: FieldSet, withParts: boolean): FieldSet {
  let result: Record<string, FieldSet> | undefined;
  for (const element of Object.keys(right)) {
    const before = left[element];
    if (before === undefined || element === SELF) continue;
    const other = right[element];
    const gone = isMember(other);
    const parts = partsOf(before);
    const kept = gone && withParts ? NO_FIELDS : without(parts, partsOf(other), withParts);
    const stays = isMember(before) && !gone;
    if (kept === parts && stays === isMember(before)) continue;
    result ??= { ...left };
    const after = nodeOf(stays, kept);
    if (after === undefined) delete result[element];
    else result[element] = after;
  }
  return result ?? left;
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const [element, node] of Object.entries(left)) {
    const other = right[element];
    if (other === undefined || element === SELF) continue;
    const both = nodeOf(isMember(node) && isMember(other), intersection(partsOf(node), partsOf(other)));
    if (both !== undefined) result[element] = both;
  }
  return result;
}

/** The paths of the fields as elements from the root: fields before their parts. */
export function pathsOf(set: FieldSet, above: readonly string[] = []): string[][] {
  const elements = Object.keys(set)
    .filter((element) => element !== SELF)
    .sort();
  return [
    ...elements.filter((element) => isMember(set[element])).map((element) => [...above, element]),
    ...elements.flatMap((element) => pathsOf(partsOf(set[element]), [...above, element])),
  ];
}

export function has(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) node = node?.[element];
  return path.length > 0 && isMember(node);
}
