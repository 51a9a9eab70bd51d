/**
 * The ports of a sandbox that a person starts: always the same, so that bookmarks and scripts work again tomorrow. One that
 * another process has is replaced by any free one.
 */
import { createServer } from "node:net";

const PREFERRED = {
  page: 18_080,
  kubernetes: 18_081,
  kubeControl: 18_082,
  azure: 18_083,
  azureControl: 18_084,
  metadata: 18_085,
  metrics: 18_086,
} as const;

/** 0: any. */
export type SandboxPorts = Readonly<Record<keyof typeof PREFERRED, number>>;

export const ANY_PORTS: SandboxPorts = {
  page: 0,
  kubernetes: 0,
  kubeControl: 0,
  azure: 0,
  azureControl: 0,
  metadata: 0,
  metrics: 0,
};

export async function preferredPorts(): Promise<SandboxPorts> {
  const ports = await Promise.all(
    Object.entries(PREFERRED).map(async ([name, port]) => [name, (await isFree(port)) ? port : 0] as const),
  );
  return { ...ANY_PORTS, ...Object.fromEntries(ports) };
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
