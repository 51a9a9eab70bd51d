/** Picks listening ports: the requested one, else the one of the last start in this data directory, else a free one. */
import type { DataDirectory } from "./data-directory.ts";

const FILE = "ports.json";

interface Listening {
  readonly port: number;
}

export interface PortAllocator {
  /** Listens on the `asked` port, else on the one stored under this name if it is still free, else on any free port. */
  listen<Opened extends Listening>(
    name: string,
    asked: number | undefined,
    open: (port: number) => Promise<Opened>,
  ): Promise<Opened>;
}

export function portAllocator(directory: DataDirectory): PortAllocator {
  const known: Record<string, number> = { ...(directory.read(FILE) as Record<string, number> | undefined) };
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

async function openKnown<Opened>(port: number, open: (port: number) => Promise<Opened>): Promise<Opened> {
  try {
    return await open(port);
  } catch (error) {
    if (port === 0 || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    return open(0);
  }
}
