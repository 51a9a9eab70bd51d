/** Every object that differs from one in a single field: left out, null, empty, of another type, out of range, or another word. */
type Path = readonly (string | number)[];

export interface Mutation {
  readonly what: string;
  readonly value: unknown;
}

const LEFT_OUT = Symbol("left out");
const REPLACEMENTS: readonly unknown[] = [
  LEFT_OUT,
  null,
  "",
  " ",
  "a b",
  "Other",
  "x".repeat(300),
  0,
  1,
  -1,
  70_000,
  1.5,
  true,
  [],
  {},
  [1],
  { a: 1 },
];

export function oneFieldMutations(object: unknown): readonly Mutation[] {
  return pathsOf(object).flatMap((path) =>
    REPLACEMENTS.flatMap((replacement) => {
      const value = withChange(object, path, replacement);
      const said = replacement === LEFT_OUT ? "left out" : JSON.stringify(replacement).slice(0, 20);
      return JSON.stringify(value) === JSON.stringify(object) ? [] : [{ what: `${path.join(".")}: ${said}`, value }];
    }),
  );
}

function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const within = Object.entries(value).flatMap(([key, each]) =>
    pathsOf(each, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return path.length === 0 ? within : [path, ...within];
}

function withChange(value: unknown, [key, ...rest]: Path, replacement: unknown): unknown {
  if (key === undefined) return replacement;
  const change = (each: unknown): unknown => withChange(each, rest, replacement);
  if (Array.isArray(value)) {
    const changed = value.map((each, at) => (at === key ? change(each) : (each as unknown)));
    return changed.filter((each) => each !== LEFT_OUT);
  }
  const entries = Object.entries(value as object).map(([name, each]) => [name, name === key ? change(each) : each]);
  return Object.fromEntries(entries.filter(([, each]) => each !== LEFT_OUT));
}
