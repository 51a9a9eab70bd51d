/** The `k=v,k2=v2` in which configs and annotations write tags. Who merges them into resources: `tags.ts`. */

type Tags = Readonly<Record<string, string>>;

export interface TagList {
  readonly tags: Tags;
  /** Pairs that are not exactly one `key=value`; they are left out. */
  readonly malformed: readonly string[];
}

export function parseTagList(text: string): TagList {
  const tags: Record<string, string> = {};
  const malformed: string[] = [];
  for (const pair of text.split(",")) {
    if (pair.trim() === "") continue;
    const [key = "", value, ...rest] = pair.split("=");
    if (value === undefined || rest.length > 0 || key.trim() === "") malformed.push(pair.trim());
    else tags[key.trim()] = trimmedValue(value);
  }
  return { tags, malformed };
}

/** A bare `null` would be taken for "no value" on its way, so its blanks stay. */
function trimmedValue(value: string): string {
  const trimmed = value.trim();
  return trimmed.toLowerCase() === "null" ? value : trimmed;
}

/** `over` wins: Azure tells keys apart without case. */
export function overlayTags(under: Tags, over: Tags): Tags {
  const taken = new Set(Object.keys(over).map((key) => key.toLowerCase()));
  const kept = Object.entries(under).filter(([key]) => !taken.has(key.toLowerCase()));
  return { ...Object.fromEntries(kept), ...over };
}
