/**
 * The order in which keys that are due get a worker. The most urgent priority comes first. Within it the groups take
 * turns, one key each, so that many keys of one group delay a key of another by one turn at most; within a group keys
 * run in the order they came. Decides nothing about when a key is due.
 */
export interface ReadyKey {
  readonly priority: number;
  readonly group: string;
}

export class ReadyKeys<Key extends ReadyKey> {
  /** priority → group → keys; the group whose turn is next comes first. */
  readonly #lines = new Map<number, Map<string, Set<Key>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(key: Key): void {
    const groups = this.#lines.get(key.priority) ?? new Map<string, Set<Key>>();
    const keys = groups.get(key.group) ?? new Set();
    this.#lines.set(key.priority, groups.set(key.group, keys.add(key)));
    this.#size += 1;
  }

  /** Of a key that was added, before its priority changes. */
  delete(key: Key): void {
    const groups = this.#lines.get(key.priority);
    const keys = groups?.get(key.group);
    if (groups === undefined || keys?.delete(key) !== true) return;
    this.#size -= 1;
    if (keys.size === 0) groups.delete(key.group);
    if (groups.size === 0) this.#lines.delete(key.priority);
  }

  /** `isFull`: no key of the group may be taken now. */
  take(isFull: (group: string) => boolean = () => false): Key | undefined {
    if (this.#size === 0) return undefined;
    for (const priority of [...this.#lines.keys()].sort((one, other) => other - one)) {
      const groups = this.#lines.get(priority) ?? new Map<string, Set<Key>>();
      for (const [group, keys] of groups) {
        const [key] = keys;
        if (key === undefined || isFull(group)) continue;
        groups.delete(group);
        groups.set(group, keys); // last from now on
        this.delete(key);
        return key;
      }
    }
    return undefined;
  }

  clear(): void {
    this.#lines.clear();
    this.#size = 0;
  }
}
