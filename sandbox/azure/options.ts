/** The options of `startAzure`. */
import type { Account } from "./identity/account.ts";
import type { OptionOverrides } from "./model/index.ts";
import type { Seed } from "./seed/seed.ts";
import type { Topology } from "./seed/topology.ts";

export interface AzureOptions {
  /** HTTPS port of Resource Manager; absent or 0: the port of the last start in the data directory, else a free one. */
  readonly port?: number;
  readonly httpPort?: number;
  readonly controlPort?: number;
  /** Plain-HTTP port of the machines' instance metadata. */
  readonly metadataPort?: number;
  /** Directory of state, certificates and ports. Absent: state in memory, the rest in a temporary directory. */
  readonly dataDir?: string;
  /** Starts from a damaged journal, without its damaged record and those after it. */
  readonly acceptJournalLoss?: boolean;
  readonly topology?: Partial<Topology>;
  readonly seed?: Seed;
  /** 0: none; 1: realistic; or a factor of it. */
  readonly latency?: number;
  readonly latencySeed?: number;
  readonly throttling?: boolean;
  /** Resource Manager over plain HTTP too. */
  readonly plainHttp?: boolean;
  /** Limits and switches of the model. */
  readonly model?: OptionOverrides;
  readonly account?: Partial<Account>;
  readonly maxBodyBytes?: number;
  readonly tokenLifetimeSeconds?: number;
  /** Starts the data plane, which forwards real connections on loopback. */
  readonly dataPlane?: boolean;
  readonly log?: (line: string) => void;
}
