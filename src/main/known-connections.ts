/**
 * Connections of a node, where they are known: Azure does not tell, the data plane of an emulated one does. Whatever goes wrong
 * here is no failure of the command that asks.
 */

export interface KnownConnections {
  /** Established, through any load balancer. */
  readonly open: number;
  /** Begun while its admin state was `Down`. */
  readonly openedWhileDown: number;
}

interface DataPlane {
  readonly frontends: readonly { readonly members: readonly (KnownConnections & { readonly ip: string })[] }[];
}

const TIMEOUT_MS = 5_000;

/** `undefined`: nobody knows. */
export async function knownConnections(
  control: string | undefined,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<KnownConnections | undefined> {
  if (control === undefined) return undefined;
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const answer = await fetch(`${control}/data-plane`, { signal: within });
    if (!answer.ok) return undefined; // it has no data plane
    const { frontends } = (await answer.json()) as DataPlane;
    const members = frontends.flatMap((frontend) => frontend.members).filter(({ ip }) => addresses.includes(ip));
    const sum = (of: (member: KnownConnections) => number): number =>
      members.reduce((total, member) => total + of(member), 0);
    return { open: sum(({ open }) => open), openedWhileDown: sum(({ openedWhileDown }) => openedWhileDown) };
  } catch {
    return undefined;
  }
}
