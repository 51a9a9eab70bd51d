/**
 * The instance metadata service: plain HTTP on loopback, one base URL per machine, `/machines/NAME`, where NAME is the
 * machine's or its Node's. Serves what a machine asks about itself and its Scheduled Events. Tokens of managed identities
 * are served elsewhere (`identity/managed-identity.ts`). Armed faults apply; the audit log does not record these requests.
 */
import { delayedBy, type FaultRegistry } from "../control/faults.ts";
import type { Account } from "../identity/account.ts";
import { CUT, jsonReply, type Answer, type HttpReply, type HttpRequest } from "../server/http-message.ts";
import type { Machine } from "./machines.ts";
import type { ScheduledEvents } from "./scheduled-events.ts";

export interface MetadataOptions {
  readonly account: Account;
  readonly events: ScheduledEvents;
  /** By lower-case name. */
  readonly machines: () => ReadonlyMap<string, Machine>;
  readonly faults: FaultRegistry;
  /** Resolves early, to `false`, when the emulator closes. */
  readonly sleep: (ms: number) => Promise<boolean>;
}

const EVENT_VERSIONS = ["2020-07-01", "2019-08-01", "2019-04-01", "2019-01-01", "2017-11-01", "2017-08-01"];
const PATH = /^\/machines\/([^/]+)(\/metadata\/.+?)\/?$/i;

export function metadataAnswer(options: MetadataOptions): Answer {
  return async (request) => {
    const { method, path } = request;
    const hits = options.faults.hits({ method, path, caller: undefined });
    if (!(await delayedBy(hits, options.faults, options.sleep))) return CUT;
    for (const { effect } of hits) {
      if (effect.kind === "cutBefore" || effect.kind === "cutAfter") return CUT;
      if (effect.kind === "status") return jsonReply(effect.status, { error: effect.message });
    }
    return answer(options, request);
  };
}

function answer(options: MetadataOptions, request: HttpRequest): HttpReply {
  const [, name = "", path = ""] = PATH.exec(request.path) ?? [];
  const machines = options.machines();
  const machine = machines.get(name.toLowerCase());
  if (machine === undefined) {
    const known = [...new Set(machines.values())].map(({ computerName }) => computerName);
    const some = known.slice(0, 5).join(", ") + (known.length > 5 ? ", …" : "");
    return jsonReply(404, { error: `No machine "${name}": use /machines/NAME/metadata/…, NAME being one of ${some}.` });
  }
  if (request.headers["metadata"]?.toLowerCase() !== "true")
    return jsonReply(400, { error: "Bad request. Required metadata header not specified" });
  if (request.headers["x-forwarded-for"] !== undefined)
    return jsonReply(400, { error: "Bad request. Requests must not contain an X-Forwarded-For header" });
  if (path.toLowerCase() === "/metadata/scheduledevents") return eventsAnswer(options.events, machine, request);
  return instanceAnswer(options.account, machine, request, path);
}

function eventsAnswer(events: ScheduledEvents, machine: Machine, { method, query, text }: HttpRequest): HttpReply {
  if (!EVENT_VERSIONS.includes(query["api-version"] ?? "")) return badVersion(EVENT_VERSIONS);
  if (method === "GET") return jsonReply(200, events.document(machine));
  if (method !== "POST") return jsonReply(405, { error: "Method not allowed. Use GET or POST." });
  const ids = startRequestsOf(text);
  if (ids === undefined)
    return jsonReply(400, { error: 'Bad request. Expected {"StartRequests": [{"EventId": "…"}]}' });
  const unknown = ids.filter((id) => !events.approve(id, machine));
  return unknown.length === 0
    ? { status: 200, headers: {} }
    : jsonReply(400, { error: `Bad request. Unknown EventId: ${unknown.join(", ")}` });
}

/** `undefined`: not such a body. */
function startRequestsOf(text: string): readonly string[] | undefined {
  try {
    const { StartRequests: requests } = JSON.parse(text) as { StartRequests?: readonly { EventId?: unknown }[] };
    const ids = requests?.map(({ EventId: id }) => id);
    return ids?.every((id) => typeof id === "string") === true ? ids : undefined;
  } catch {
    return undefined;
  }
}

function instanceAnswer(account: Account, machine: Machine, { method, query }: HttpRequest, path: string): HttpReply {
  if (method !== "GET") return jsonReply(405, { error: "Method not allowed. Use GET." });
  const [, , kind, ...rest] = path.split("/");
  if (kind?.toLowerCase() !== "instance") return jsonReply(404, { error: "Not found" });
  if (!/^20\d\d-\d\d-\d\d$/.test(query["api-version"] ?? "")) return badVersion(["2021-02-01"]);
  let found: unknown = instanceOf(account, machine);
  for (const key of rest) found = fieldOf(found, key);
  if (found === undefined) return jsonReply(404, { error: "Not found" });
  if (typeof found !== "string") return jsonReply(200, found);
  if (query["format"] !== "text") return jsonReply(400, { error: "Bad request. A single value needs format=text" });
  return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, text: found };
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

function instanceOf(account: Account, { id, name, computerName, location, addresses }: Machine): unknown {
  const addressesOf = (isOfFamily: (address: string) => boolean): unknown => ({
    ipAddress: addresses.filter(isOfFamily).map((privateIpAddress) => ({ privateIpAddress, publicIpAddress: "" })),
  });
  return {
    compute: {
      name,
      resourceId: id,
      location,
      subscriptionId: account.subscriptionId,
      resourceGroupName: account.resourceGroup,
      vmScaleSetName: /\/virtualMachineScaleSets\/([^/]+)\//i.exec(id)?.[1] ?? "",
      osProfile: { computerName },
    },
    network: {
      interface: [{ ipv4: addressesOf((one) => !one.includes(":")), ipv6: addressesOf((one) => one.includes(":")) }],
    },
  };
}

function badVersion(known: readonly string[]): HttpReply {
  const error = "Bad request. api-version is invalid or was not specified in the request.";
  return jsonReply(400, { error, "newest-versions": known });
}
