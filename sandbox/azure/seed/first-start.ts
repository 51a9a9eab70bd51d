/**
 * Seeds the emulator at its first start in a data directory. Later starts find the mark and keep the stored topology,
 * whatever the flags say. A start that was killed half-way seeds again with the same PUTs.
 */
import type { Account } from "../identity/account.ts";
import type { DataDirectory } from "../../shared/data-directory.ts";
import { foreignResources } from "./foreign.ts";
import { applySeed, type SeedContext, type Seed } from "./seed.ts";
import { topologyResources, wholeTopology, type Topology } from "./topology.ts";

interface SeedMark {
  readonly topology: Topology;
}

const MARK = "seed.json";

export interface FirstStart {
  readonly account: Account;
  readonly wanted: Partial<Topology>;
  readonly seed: Seed | undefined;
  readonly directory: DataDirectory;
  readonly context: SeedContext;
  readonly log: (line: string) => void;
}

export function seedOnce({ account, wanted, seed, directory, context, log }: FirstStart): Topology {
  const topology = wholeTopology({ ...seed?.topology, ...wanted });
  const mark = directory.read(MARK) as SeedMark | undefined;
  if (mark !== undefined) {
    const seeded = wholeTopology(mark.topology); // an older directory lacks keys that were added since
    if (JSON.stringify(seeded) !== JSON.stringify(topology)) {
      log(`the data directory was seeded with ${JSON.stringify(seeded)}; that stays`);
    }
    return seeded;
  }
  applySeed(topologyResources(account, topology), context);
  if (topology.foreign) applySeed(foreignResources(account, topology), context);
  applySeed(seed?.resources ?? [], context);
  directory.write(MARK, { topology } satisfies SeedMark);
  return topology;
}
