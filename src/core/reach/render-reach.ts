/** `azlb reach` for a person: the verdict for each address and port, and below it the way that a packet takes. */
import type { Reach } from "./reach-service.ts";

const VERDICTS: Readonly<Record<Reach["verdict"], string>> = {
  reaches: "yes",
  blocked: "NO",
  unknown: "not known",
};

export function renderReach(reaches: readonly Reach[]): string {
  const lines = reaches.flatMap(({ address, port, protocol, verdict, why, path, connection }) => [
    `${address === undefined ? "" : `${address} `}port ${port}/${protocol}: ${VERDICTS[verdict]}, ${why}`,
    ...path.map(({ hop, text }) => `  ${hop.padEnd(13)}  ${text}`),
    ...(connection === undefined ? [] : [`  tried          ${triedText(connection)}`]),
  ]);
  return `${lines.join("\n")}\n`;
}

function triedText({ isForwarded, met }: NonNullable<Reach["connection"]>): string {
  return isForwarded ? `a connection was forwarded to ${met}` : `a connection was refused: ${met}`;
}
