/** Picks ports: the ones asked for, else those of the last start in this data directory, else free ones. */
import type { DataDirectory } from "../store/data-directory.ts";
import type { Listening } from "./listener.ts";

const FILE = "ports.json";

export type PortName = "arm" | "plain" | "control";
type Ports = Partial<Record<PortName, number>>;

export interface PortBook {
  /** Listens on the port `asked` for, else on the remembered one if it is still free, else on any. */
  listen(name: PortName, asked: number | undefined, open: (port: number) => Promise<Listening>): Promise<Listening>;
}

export function portBook(directory: DataDirectory): PortBook {
  const known: Ports = { ...(directory.read(FILE) as Ports | undefined) };
  return {
    async listen(name, asked, open) {
      const isFree = asked === undefined || asked === 0;
      const listening = isFree ? await openKnown(known[name] ?? 0, open) : await open(asked);
      known[name] = listening.port;
      directory.write(FILE, known);
      return listening;
    },
  };
}

async function openKnown(port: number, open: (port: number) => Promise<Listening>): Promise<Listening> {
  try {
    return await open(port);
  } catch (error) {
    if (port === 0 || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    return open(0);
  }
}
