/**
 * The control endpoint, through which tests and users arm faults, read the audit log and counters, change settings, seed
 * resources, announce Scheduled Events and dump the state: plain HTTP on loopback, separate from the emulated Azure, closed to web pages; documented
 * in docs/emulator.md.
 */
import { BadInput, parseJson } from "../../shared/input.ts";
import { refusalOf } from "../../shared/control-guard.ts";
import { wholeNumber } from "./query.ts";
import { jsonReply, type Answer, type HttpReply, type HttpRequest } from "../server/http-message.ts";
import type { AuditLog, AuditQuery } from "./audit.ts";
import { DATA_PLANE_ROUTES, type DataPlaneControlled } from "./data-plane-routes.ts";
import { parseFault, type FaultRegistry } from "./faults.ts";
import { SCHEDULED_EVENT_ROUTES, type ScheduledEventsControlled } from "./scheduled-event-routes.ts";
import { patchSettings, renderSettings, type Adjustable } from "./settings.ts";

export interface Controlled extends Adjustable, DataPlaneControlled, ScheduledEventsControlled {
  readonly faults: FaultRegistry;
  readonly audit: AuditLog;
  /** Applies a seed given as text; throws `BadInput`. */
  readonly seed: (text: string) => number;
  /** Connection facts and nodes, as `azlb azure --json` prints them. */
  readonly about: () => unknown;
}

type Route = (controlled: Controlled, request: HttpRequest, id: string | undefined) => HttpReply | Promise<HttpReply>;

const ROUTES: Readonly<Record<string, Route>> = {
  "GET /": (controlled) => jsonReply(200, { about: controlled.about(), endpoints: Object.keys(ROUTES) }),
  "GET /faults": ({ faults }) => jsonReply(200, { faults: faults.list() }),
  "POST /faults": ({ faults }, { text }) => jsonReply(201, armAll(faults, parseJson(text, "fault"))),
  "DELETE /faults": ({ faults }) => jsonReply(200, { cleared: faults.clear() }),
  "DELETE /faults/{id}": ({ faults }, _request, id) => jsonReply(200, { cleared: faults.clear(id) }),
  "GET /audit": ({ audit }, { query }) => jsonReply(200, { entries: audit.entries(auditQuery(query)) }),
  "DELETE /audit": ({ audit }) => {
    audit.clear();
    return { status: 204, headers: {} };
  },
  "GET /counters": ({ audit }) => jsonReply(200, audit.counters()),
  "GET /settings": (controlled) => jsonReply(200, renderSettings(controlled)),
  "PATCH /settings": (controlled, { text }) => {
    patchSettings(controlled, parseJson(text, "settings"));
    return jsonReply(200, renderSettings(controlled));
  },
  "GET /state": ({ store }) => jsonReply(200, store.snapshot()),
  "POST /seed": ({ seed }, { text }) => jsonReply(200, { planted: seed(text) }),
  ...DATA_PLANE_ROUTES,
  ...SCHEDULED_EVENT_ROUTES,
};

export function controlAnswer(controlled: Controlled): Answer {
  return async (request) => {
    const refusal = refusalOf({ ...request, hasBody: request.text !== "" });
    if (refusal !== undefined) {
      return jsonReply(refusal.status, { error: { code: refusal.code, message: refusal.message } });
    }
    const [name = "", id] = request.path.split("/").slice(1);
    const route = ROUTES[`${request.method} /${name}${id === undefined ? "" : "/{id}"}`];
    if (route === undefined) {
      const message = `No such control endpoint: ${request.method} ${request.path}. Known: ${Object.keys(ROUTES).join(", ")}.`;
      return jsonReply(404, { error: { code: "NotFound", message } });
    }
    try {
      return await route(controlled, request, id);
    } catch (error) {
      if (!(error instanceof BadInput)) throw error;
      return jsonReply(400, { error: { code: "BadInput", message: error.message } });
    }
  };
}

/** Arms one fault or a list of them; parses all before it arms any. */
function armAll(faults: FaultRegistry, value: unknown): unknown {
  if (!Array.isArray(value)) return faults.arm(parseFault(value));
  const wanted = value.map((item) => parseFault(item));
  return { faults: wanted.map((fault) => faults.arm(fault)) };
}

function auditQuery(query: HttpRequest["query"]): AuditQuery {
  const { method, path } = query;
  return {
    ...(method === undefined ? {} : { method }),
    ...(path === undefined ? {} : { path }),
    ...wholeNumber(query, "after"),
    ...wholeNumber(query, "limit"),
  };
}
