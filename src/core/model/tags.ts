/**
 * Tags of Azure resources: parsed from text, overlaid, and merged into the tags of a shared resource. Azure compares keys
 * without case: keys that differ in case only are one key, and the last one counts.
 */
export type Tags = Readonly<Record<string, string>>;

interface TagList {
  readonly tags: Tags;
  /** Pairs that are not exactly one `key=value`; they are ignored. */
  readonly malformed: readonly string[];
}

/** The `k=v,k2=v2` in which configs and annotations write tags. */
export function parseTagList(text: string): TagList {
  const tags: [key: string, value: string][] = [];
  const malformed: string[] = [];
  for (const pair of text.split(",")) {
    if (pair.trim() === "") continue;
    const [key = "", value, ...rest] = pair.split("=");
    if (value === undefined || rest.length > 0 || key.trim() === "") malformed.push(pair.trim());
    else tags.push([key.trim(), trimmedValue(value)]);
  }
  return { tags: oneOfEach(tags), malformed };
}

function oneOfEach(entries: readonly (readonly [key: string, value: string])[]): Tags {
  const last = new Map(entries.map(([key], at) => [key.toLowerCase(), at]));
  return Object.fromEntries(entries.filter(([key], at) => last.get(key.toLowerCase()) === at));
}

/** The value of a tag, in whatever case its key is. */
export function tagValue(tags: Tags | undefined, key: string): string | undefined {
  return tags?.[spellingOf(tags, key)];
}

/** In the spelling that is there. */
export function withTag(tags: Tags | undefined, key: string, value: string): Tags {
  return { ...tags, [spellingOf(tags, key)]: value };
}

function spellingOf(tags: Tags | undefined, key: string): string {
  const lower = key.toLowerCase();
  return Object.keys(tags ?? {}).find((one) => one.toLowerCase() === lower) ?? key;
}

/** As the incumbent reads it: a value that trims to `null` keeps its blanks. */
function trimmedValue(value: string): string {
  const trimmed = value.trim();
  return trimmed.toLowerCase() === "null" ? value : trimmed;
}

/** `over` wins. */
export function overlayTags(under: Tags, over: Tags): Tags {
  const taken = new Set(Object.keys(over).map((key) => key.toLowerCase()));
  const kept = Object.entries(under).filter(([key]) => !taken.has(key.toLowerCase()));
  return oneOfEach([...kept, ...Object.entries(over)]);
}

/**
 * `seen` with the wanted tags; tags of other clients stay, except where the config names `systemTags`: then a tag that is
 * neither wanted nor starts with one of those is removed. Keys keep their spelling. Returns `seen` itself where nothing
 * changes.
 */
export function mergeTags(seen: Tags | undefined, wanted: Tags, systemTags: readonly string[]): Tags | undefined {
  const spelling = new Map(Object.keys(seen ?? {}).map((key) => [key.toLowerCase(), key]));
  const merged: Record<string, string> = { ...seen };
  let changed = false;
  for (const [key, value] of Object.entries(oneOfEach(Object.entries(wanted)))) {
    const known = spelling.get(key.toLowerCase()) ?? key;
    if (merged[known] === value) continue;
    merged[known] = value;
    changed = true;
  }
  for (const key of prunable(merged, wanted, systemTags)) {
    delete merged[key];
    changed = true;
  }
  return changed ? merged : seen;
}

function prunable(tags: Tags, wanted: Tags, systemTags: readonly string[]): string[] {
  if (systemTags.length === 0) return [];
  const wantedKeys = new Set(Object.keys(wanted).map((key) => key.toLowerCase()));
  const prefixes = systemTags.map((prefix) => prefix.toLowerCase());
  return Object.keys(tags).filter((key) => {
    const lower = key.toLowerCase();
    return !wantedKeys.has(lower) && !prefixes.some((prefix) => lower.startsWith(prefix));
  });
}
