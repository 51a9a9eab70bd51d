/**
 * Tags of shared resources: ours are added and corrected, everybody else's stay, except where the config names
 * `systemTags`: then a tag that is neither wanted nor begins with one of those goes.
 */
export type Tags = Readonly<Record<string, string>>;

/** Keys compare without case and keep their spelling. Answers `seen` itself if that is right already. */
export function mergeTags(seen: Tags | undefined, wanted: Tags, systemTags: readonly string[]): Tags | undefined {
  const spelling = new Map(Object.keys(seen ?? {}).map((key) => [key.toLowerCase(), key]));
  const merged: Record<string, string> = { ...seen };
  let changed = false;
  for (const [key, value] of Object.entries(wanted)) {
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
