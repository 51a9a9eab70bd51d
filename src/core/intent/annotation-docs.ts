/** `docs/annotations.md`, made of the table that parses the annotations, so that it cannot say anything else. */
import { type Annotation, type Origin, PREFIX } from "./annotations/annotation.ts";
import { GROUPS, type Group } from "./annotations/groups.ts";

const ORIGINS: Readonly<Record<Origin, string>> = { design: "designs", incumbent: "incumbent", azlb: "azlb" };

const HEADER = `# Annotations

Made by \`npm run docs\` from the table that the controller parses them by; do not edit.

Keys are written without their prefix \`${PREFIX}\`, except those with a prefix of their own. A key under that prefix
that begins with \`azure-\` or \`port_\` and is not in this table gets a Warning event with the nearest known key. A value
that cannot be honoured refuses the Service, with an event that names key, value and what is allowed; what the Service
has in Azure stays as it is until that is mended. \`From\`: the designs that this project implements, the practice of
cloud-provider-azure, or this controller.
`;

export function renderAnnotationDocs(): string {
  return [HEADER, ...GROUPS.map(renderGroup)].join("\n");
}

function renderGroup({ title, annotations }: Group): string {
  const rows = annotations.map((annotation) => renderRow(annotation));
  return [`## ${title}`, "", "| Key | Values | Default | Effect | From |", "|---|---|---|---|---|", ...rows, ""].join(
    "\n",
  );
}

function renderRow({ key, kind, byDefault, effect, origin }: Annotation<unknown>): string {
  const short = key.startsWith(PREFIX) ? key.slice(PREFIX.length) : key;
  return `| \`${short}\` | ${kind.allowed} | ${byDefault} | ${effect} | ${ORIGINS[origin]} |`;
}
