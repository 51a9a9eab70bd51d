/**
 * The map: address → port → rule → pool → node → endpoint, as boxes in columns with lines between them. Nodes have the colour of their
 * admin state and of what the probes found; what is not ours is grey.
 */
import type { ServiceDetail } from "../core/view/service-detail.ts";

interface Box {
  readonly id: string;
  readonly column: number;
  readonly title: string;
  readonly text: string;
  readonly look: "" | "down" | "foreign" | "good" | "more";
}

interface Line {
  readonly from: string;
  readonly to: string;
  readonly look: Box["look"];
}

const COLUMNS = ["Address", "Port", "Rule", "Pool", "Node", "Endpoint"];
const [WIDTH, GAP, HEIGHT, SPACE] = [160, 30, 50, 10];
const MOST_NODES = 10;

/** Of the Service: what is in which column, and what leads where. */
function layOut({ detail: { frontends, pools }, notUp }: ServiceMapProps): { boxes: Box[]; lines: Line[] } {
  const boxes: Box[] = [];
  const lines: Line[] = [];
  const add = (box: Box): string => {
    if (!boxes.some(({ id }) => id === box.id)) boxes.push(box);
    return box.id;
  };
  for (const { name, address, loadBalancer, publicIP, rules, others } of frontends) {
    const frontend = add({
      id: `f ${loadBalancer} ${name}`,
      column: 0,
      title: address ?? "no address yet",
      text: publicIP ?? loadBalancer,
      look: "",
    });
    for (const rule of rules) {
      const port = add({
        id: `p ${loadBalancer} ${rule.name}`,
        column: 1,
        title: rule.port === 0 ? "all ports" : `${rule.port}/${rule.protocol}`,
        text: rule.backendPort === undefined ? "" : `→ ${rule.backendPort}`,
        look: "",
      });
      const box = add({
        id: `r ${loadBalancer} ${rule.name}`,
        column: 2,
        title: rule.probe ?? "no probe",
        text: rule.name,
        look: "",
      });
      lines.push({ from: frontend, to: port, look: "" }, { from: port, to: box, look: "" });
      if (rule.pool !== undefined) lines.push({ from: box, to: `b ${loadBalancer} ${rule.pool}`, look: "" });
    }
    for (const other of others) {
      const box = add({
        id: `o ${loadBalancer} ${other}`,
        column: 1,
        title: other,
        text: "not this Service's",
        look: "foreign",
      });
      lines.push({ from: frontend, to: box, look: "foreign" });
    }
  }
  for (const { name, loadBalancer, members, counts } of pools) {
    const pool = add({
      id: `b ${loadBalancer} ${name}`,
      column: 3,
      title: name,
      text: `${counts.members} members${counts.down > 0 ? `, ${counts.down} Down` : ""}`,
      look: "",
    });
    for (const member of members.slice(0, MOST_NODES)) {
      const { name: node, isForeign, adminState, hasEndpoint } = member;
      const isDown = adminState === "Down" || notUp.has(node);
      const look = isForeign ? "foreign" : isDown ? "down" : "good";
      const box = add({ id: `n ${node}`, column: 4, title: node, text: nodeText(member, notUp), look });
      lines.push({ from: pool, to: box, look });
      if (hasEndpoint !== true) continue;
      const endpoint = add({ id: `e ${node}`, column: 5, title: "ready endpoint", text: `on ${node}`, look: "" });
      lines.push({ from: box, to: endpoint, look: "" });
    }
    const left = counts.members - Math.min(members.length, MOST_NODES);
    if (left > 0)
      lines.push({
        from: pool,
        to: add({ id: `m ${name}`, column: 4, title: `${left} more nodes`, text: "", look: "more" }),
        look: "",
      });
  }
  return { boxes, lines };
}

type Member = ServiceDetail["pools"][number]["members"][number];

function nodeText({ name, address = "", adminState, isForeign, drain }: Member, notUp: ReadonlySet<string>): string {
  const what = isForeign ? "not ours, untouched" : drain === undefined ? address : `draining: ${drain.join(", ")}`;
  if (adminState === "Down") return `Down · ${what}`;
  return notUp.has(name) ? `no answer to the probe · ${what}` : what;
}

export interface ServiceMapProps {
  readonly detail: ServiceDetail;
  /** Nodes that some probe of the Service got no answer from. */
  readonly notUp: ReadonlySet<string>;
}

export function ServiceMap(props: ServiceMapProps) {
  const { boxes, lines } = layOut(props);
  if (boxes.length === 0) return <p class="note">Nothing of it is in Azure yet.</p>;
  const columns = COLUMNS.map((_, column) => boxes.filter((box) => box.column === column));
  const tallest = Math.max(...columns.map((column) => column.length));
  const height = tallest * (HEIGHT + SPACE) + 34;
  const place = new Map(
    // from the top, so that a phone shows the first column without scrolling down
    columns.flatMap((column, at) =>
      column.map((box, row) => [box.id, { x: at * (WIDTH + GAP), y: 30 + row * (HEIGHT + SPACE) }] as const),
    ),
  );
  const width = COLUMNS.length * (WIDTH + GAP) - GAP;
  return (
    <section aria-label="Map">
      <div class="map" tabIndex={0} role="region" aria-label="The way of a packet, from address to endpoint">
        <div style={{ width: `${width}px`, height: `${height}px` }}>
          <svg width={width} height={height} aria-hidden="true">
            {lines.map(({ from, to, look }) => {
              const [a, b] = [place.get(from), place.get(to)];
              if (a === undefined || b === undefined) return null;
              const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
              return (
                <path
                  key={`${from} ${to}`}
                  class={look}
                  d={`M${x1} ${y1}C${x1 + GAP / 2} ${y1} ${x2 - GAP / 2} ${y2} ${x2} ${y2}`}
                />
              );
            })}
          </svg>
          {COLUMNS.map((name, at) => (
            <span key={name} class="column" style={{ left: `${at * (WIDTH + GAP)}px`, width: `${WIDTH}px` }}>
              {name}
            </span>
          ))}
          {boxes.map(({ id, title, text, look }) => {
            const at = place.get(id);
            return (
              <div
                key={id}
                class={`box ${look}`}
                title={`${title}\n${text}`}
                style={{ left: `${at?.x}px`, top: `${at?.y}px`, width: `${WIDTH}px`, height: `${HEIGHT}px` }}
              >
                <b>{title}</b>
                <span>{text}</span>
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}
