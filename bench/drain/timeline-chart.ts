/** Renders drain timelines as an SVG chart: new connections per quarter of a second, by outcome. */
import type { DrainTimeline } from "./drain-timeline.ts";

const BUCKET_MS = 250;
const WIDTH = 960;
const LEFT = 64;
const LANE_HEIGHT = 150;
const LANE_GAP = 70;
const TOP = 64;
const COLOURS = { others: "#5b8db8", doomed: "#e0a030", errors: "#c8352b" } as const;

interface Bucket {
  readonly others: number;
  readonly doomed: number;
  readonly errors: number;
}

export function drawDrainTimelines(timelines: readonly DrainTimeline[]): string {
  const fromMs = -2_000;
  const toMs = Math.max(...timelines.flatMap(({ attempts }) => attempts.map(({ atMs }) => atMs)));
  const x = (ms: number): number => LEFT + ((ms - fromMs) / (toMs - fromMs)) * (WIDTH - LEFT - 16);
  const lanes = timelines.map((timeline, at) =>
    lane(timeline, TOP + at * (LANE_HEIGHT + LANE_GAP), { fromMs, toMs, x }),
  );
  const height = TOP + timelines.length * (LANE_HEIGHT + LANE_GAP);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>New connections while a Spot machine is evicted, with the agent and without</title>`,
    `<rect width="100%" height="100%" fill="white"/>`,
    legend(),
    ...lanes,
    `</svg>`,
    ``,
  ].join("\n");
}

interface Axis {
  readonly fromMs: number;
  readonly toMs: number;
  readonly x: (ms: number) => number;
}

function lane(timeline: DrainTimeline, top: number, { fromMs, toMs, x }: Axis): string {
  const buckets = bucketsOf(timeline, fromMs, toMs);
  const highest = Math.max(1, ...buckets.map(({ others, doomed, errors }) => others + doomed + errors));
  const floor = top + LANE_HEIGHT;
  const perConnection = (LANE_HEIGHT - 34) / highest;
  const bars = buckets.flatMap((bucket, at) => {
    const left = x(fromMs + at * BUCKET_MS);
    const width = Math.max(1, x(fromMs + (at + 1) * BUCKET_MS) - left - 0.5);
    let base = floor;
    return (["errors", "doomed", "others"] as const).flatMap((kind) => {
      const high = bucket[kind] * perConnection;
      if (high === 0) return [];
      base -= high;
      return [rect(left, base, width, high, COLOURS[kind])];
    });
  });
  const title = timeline.withAgent ? "with the agent" : "without";
  const errors = timeline.attempts.filter(({ node }) => node === undefined).length;
  const marks: [string, number | undefined, number][] = [
    ["eviction announced", 0, 0],
    ["Down in effect", timeline.downMs, 1],
    ["machine goes", timeline.diedMs, 0],
    ["probes have noticed", timeline.noticedMs, 1],
  ];
  return [
    `<text x="${LEFT}" y="${top - 4}" font-weight="bold">${title}: ${errors === 0 ? "no errors" : `${errors} errors`}</text>`,
    ...bars,
    `<line x1="${LEFT}" y1="${floor}" x2="${WIDTH - 16}" y2="${floor}" stroke="#444"/>`,
    ...ticks(floor, { fromMs, toMs, x }),
    ...marks.flatMap(([label, atMs, row]) =>
      atMs === undefined ? [] : [mark(label, x(atMs), top + 8 + row * 14, floor)],
    ),
  ].join("\n");
}

function bucketsOf({ attempts, doomed }: DrainTimeline, fromMs: number, toMs: number): Bucket[] {
  const buckets = Array.from({ length: Math.ceil((toMs - fromMs) / BUCKET_MS) }, () => ({
    others: 0,
    doomed: 0,
    errors: 0,
  }));
  for (const { atMs, node } of attempts) {
    const bucket = buckets[Math.floor((atMs - fromMs) / BUCKET_MS)];
    if (bucket !== undefined) bucket[node === undefined ? "errors" : node === doomed ? "doomed" : "others"] += 1;
  }
  return buckets;
}

function ticks(floor: number, { fromMs, toMs, x }: Axis): string[] {
  const seconds = Array.from({ length: Math.floor((toMs - fromMs) / 1000) + 1 }, (_, at) => fromMs / 1000 + at);
  return seconds
    .filter((second) => second % 2 === 0)
    .map(
      (second) =>
        `<text x="${round(x(second * 1000))}" y="${floor + 16}" text-anchor="middle" fill="#444">${second} s</text>`,
    );
}

function mark(label: string, at: number, top: number, floor: number): string {
  return (
    `<line x1="${round(at)}" y1="${top}" x2="${round(at)}" y2="${floor}" stroke="#222" stroke-dasharray="3 3"/>` +
    `<text x="${round(at + 4)}" y="${top + 8}" fill="#222">${label}</text>`
  );
}

function legend(): string {
  const entries = [
    ["others", "new connections to other nodes"],
    ["doomed", "to the doomed node"],
    ["errors", "errors that clients saw"],
  ] as const;
  return entries
    .map(([kind, text], at) => {
      const left = LEFT + at * 240;
      return `${rect(left, 16, 12, 12, COLOURS[kind])}<text x="${left + 18}" y="26">${text}</text>`;
    })
    .concat(`<text x="${WIDTH - 16}" y="26" text-anchor="end" fill="#444">per ${BUCKET_MS} ms</text>`)
    .join("\n");
}

function rect(left: number, top: number, width: number, height: number, colour: string): string {
  return `<rect x="${round(left)}" y="${round(top)}" width="${round(width)}" height="${round(height)}" fill="${colour}"/>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
