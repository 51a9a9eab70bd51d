/** The strip at the top: whether anything is broken, who leads, how much Azure lets the controller do, and the tightest limit. */
import type { Attention } from "../core/view/standing.ts";
import { ago, type Overview, type Throttle } from "./views.ts";

const TILES: readonly (readonly [Attention, string])[] = [
  ["needsYou", "need you"],
  ["inProgress", "in progress"],
  ["fine", "fine"],
];

export interface StripProps {
  readonly overview: Overview;
  readonly nowMs: number;
  readonly shown: Attention | undefined;
  readonly onShow: (attention: Attention | undefined) => void;
}

export function Strip({ overview, nowMs, shown, onShow }: StripProps) {
  const { services, quota, nodes, throttle = [] } = overview;
  return (
    <section class="strip" aria-label="At a glance">
      <div class="tiles" role="group" aria-label="Services by what they need">
        {TILES.map(([attention, words]) => (
          <button
            key={attention}
            type="button"
            class={`tile ${attention}`}
            data-zero={services?.attention[attention] === 0}
            aria-pressed={shown === attention}
            onClick={() => onShow(shown === attention ? undefined : attention)}
          >
            <b>{services?.attention[attention] ?? "–"}</b> {words}
          </button>
        ))}
      </div>
      <dl class="gauges">
        <div>
          <dt>Azure lets us</dt>
          <dd>
            {throttle.map((each) => (
              <Tokens key={each.calls} throttle={each} nowMs={nowMs} />
            ))}
          </dd>
        </div>
        {quota !== undefined && (
          <div>
            <dt>Tightest limit</dt>
            <dd>
              <Meter used={quota.used} most={quota.most} label={`${quota.of} of ${quota.in}`} />
              <span class="figure">
                {quota.of} {quota.used}/{quota.most}
              </span>
            </dd>
          </div>
        )}
        <div>
          <dt>Nodes</dt>
          <dd class="figure">
            {nodes?.total ?? "–"}
            {nodes !== undefined && nodes.draining > 0 && <span class="warn"> {nodes.draining} draining</span>}
          </dd>
        </div>
      </dl>
    </section>
  );
}

function Tokens({
  throttle: { calls, tokens, size, waiting, closedUntil },
  nowMs,
}: {
  throttle: Throttle;
  nowMs: number;
}) {
  if (closedUntil !== undefined && Date.parse(closedUntil) > nowMs)
    return <span class="throttled">{`${calls}: throttled for ${ago(closedUntil, nowMs)}`}</span>;
  return (
    <span class="tokens" title={`${tokens} of ${size} ${calls} may leave at once; ${waiting} wait`}>
      {calls} <Meter used={tokens} most={size} label={`${calls} left`} isGood />
    </span>
  );
}

export function Meter({
  used,
  most,
  label,
  isGood = false,
}: {
  used: number;
  most: number;
  label: string;
  isGood?: boolean;
}) {
  const max = Math.max(1, most);
  const [low, high, optimum] = isGood ? [0.1 * max, 0.3 * max, max] : [0.6 * max, 0.9 * max, 0];
  return (
    <meter aria-label={label} min={0} max={max} low={low} high={high} optimum={optimum} value={used}>
      {`${used} of ${most}`}
    </meter>
  );
}
