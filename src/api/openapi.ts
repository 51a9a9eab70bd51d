/** The OpenAPI document of the API. A test compares it with the routes, and with what they answer. */
import { ATTENTIONS, SERVICE_STATES } from "../core/view/standing.ts";

type Schema = Readonly<Record<string, unknown>>;

const text = { type: "string" } as const;
const time = { type: "string", format: "date-time" } as const;
const number = { type: "number" } as const;
const count = { type: "integer", minimum: 0 } as const;
const flag = { type: "boolean" } as const;
const texts = listOf(text);

function listOf(items: Schema): Schema {
  return { type: "array", items };
}

/** Keys that end with `?` may be absent. */
function object(fields: Readonly<Record<string, Schema>>): Schema {
  const properties = Object.fromEntries(Object.entries(fields).map(([key, schema]) => [key.replace("?", ""), schema]));
  const required = Object.keys(fields).filter((key) => !key.endsWith("?"));
  return { type: "object", additionalProperties: false, required, properties };
}

function one(values: readonly string[]): Schema {
  return { type: "string", enum: values };
}

const LINE = {
  namespace: text,
  name: text,
  state: one(SERVICE_STATES),
  attention: one(ATTENTIONS),
  "reason?": text,
  "message?": text,
  since: time,
  "nextTry?": time,
  "throttledUntil?": time,
  "fix?": text,
  isDrifted: flag,
  warnings: count,
  "scope?": one(["internal", "external"]),
  addresses: texts,
  ports: texts,
};
const QUOTA = { of: text, used: count, most: count };

const SCHEMAS: Readonly<Record<string, Schema>> = {
  Error: object({ error: text }),
  Service: object(LINE),
  Services: object({ total: count, offset: count, items: listOf(ref("Service")) }),
  ServiceDetail: object({
    ...LINE,
    "differences?": text,
    remarks: listOf(object({ reason: text, message: text })),
    externalTrafficPolicy: text,
    sourceRanges: texts,
    driftPolicy: one(["report", "enforce", "ignore"]),
    frontends: listOf(
      object({
        loadBalancer: text,
        name: text,
        "address?": text,
        "publicIP?": text,
        rules: listOf(
          object({
            name: text,
            protocol: text,
            port: count,
            "backendPort?": count,
            keepsAddress: flag,
            "pool?": text,
            "probe?": text,
          }),
        ),
        others: texts,
      }),
    ),
    pools: listOf(
      object({
        loadBalancer: text,
        name: text,
        counts: object({ members: count, down: count, foreign: count }),
        members: listOf(
          object({
            name: text,
            "address?": text,
            adminState: one(["None", "Up", "Down"]),
            isForeign: flag,
            "drain?": texts,
            "hasEndpoint?": flag,
          }),
        ),
      }),
    ),
    access: listOf(
      object({
        rule: text,
        priority: count,
        access: one(["Allow", "Deny"]),
        protocol: text,
        sources: texts,
        ports: texts,
        isForeign: flag,
      }),
    ),
    trouble: texts,
  }),
  Reach: object({
    items: listOf(
      object({
        "address?": text,
        port: count,
        protocol: text,
        verdict: one(["reaches", "blocked", "unknown"]),
        why: text,
        path: listOf(
          object({ hop: one(["frontend", "rule", "security rule", "probe", "members", "endpoints"]), text }),
        ),
      }),
    ),
  }),
  Probes: object({
    items: listOf(
      object({
        loadBalancer: text,
        protocol: text,
        port: count,
        probe: text,
        "problem?": text,
        up: count,
        down: count,
        notUp: listOf(object({ name: text, reason: text })),
        found: text,
      }),
    ),
    trouble: texts,
  }),
  Nodes: object({
    total: count,
    draining: count,
    offset: count,
    items: listOf(
      object({
        name: text,
        addresses: texts,
        state: one(["serves", "draining", "excluded", "in no pool"]),
        drain: texts,
        "due?": time,
        pools: listOf(object({ loadBalancer: text, pool: text, adminState: text })),
        services: count,
      }),
    ),
  }),
  LoadBalancers: object({
    items: listOf(
      object({
        name: text,
        isManaged: flag,
        "provisioningState?": text,
        services: count,
        foreign: object({ frontends: texts, rules: texts }),
        quota: listOf(object(QUOTA)),
        pools: listOf(object({ name: text, members: count, down: count })),
      }),
    ),
    "securityGroup?": object({ name: text, quota: listOf(object(QUOTA)) }),
  }),
  Writes: object({
    sequence: count,
    items: listOf(
      object({
        sequence: count,
        id: text,
        resource: text,
        verb: one(["put", "delete", "post"]),
        ended: time,
        durationMs: count,
        size: count,
        services: texts,
        outcome: text,
        "message?": text,
        "requestId?": text,
        changes: object({
          summary: text,
          lines: listOf(object({ path: text, "before?": text, "after?": text })),
          more: count,
        }),
      }),
    ),
  }),
  Overview: object({
    version: text,
    cluster: text,
    now: time,
    revision: count,
    leader: object({ leads: flag, identity: text, holder: text }),
    isReady: flag,
    "unready?": text,
    "notices?": texts,
    "services?": object({
      total: count,
      attention: object(Object.fromEntries(ATTENTIONS.map((each) => [each, count]))),
      state: object(Object.fromEntries(SERVICE_STATES.map((each) => [each, count]))),
      drifted: count,
    }),
    "nodes?": object({ total: count, draining: count }),
    "throttle?": listOf(
      object({
        subscription: text,
        calls: one(["reads", "writes", "deletes"]),
        tokens: number,
        size: number,
        waiting: count,
        "closedUntil?": time,
      }),
    ),
    "quota?": object({ in: text, ...QUOTA }),
    "writes?": count,
  }),
};

function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

type Parameters = readonly Schema[];

function query(name: string, description: string, schema: Schema): Schema {
  return { name, in: "query", description, schema };
}

function part(name: string): Schema {
  return { name, in: "path", required: true, schema: text };
}

const PAGE: Parameters = [query("offset", "of the first that is shown", count), query("limit", "at most 500", count)];
const SERVICE: Parameters = [part("namespace"), part("name")];
const SEARCH = query("search", "a part of the name", text);

/** `needs`: what the caller must be allowed to do in the cluster. */
function get(summary: string, needs: string, answer: string, parameters: Parameters = []): Schema {
  const failure = (description: string): Schema => ({
    description,
    content: { "application/json": { schema: ref("Error") } },
  });
  return {
    get: {
      summary,
      description: `Needs the right to ${needs}.`,
      parameters,
      responses: {
        "200": { description: "the view", content: { "application/json": { schema: ref(answer) } } },
        "401": failure("no valid token for the audience azlb"),
        "403": failure("the cluster does not allow it"),
        "503": failure("another process leads, and which"),
      },
    },
  };
}

const ALL = "list Services in the whole cluster";
const ONE = "get that Service";

export const OPENAPI = {
  openapi: "3.1.0",
  info: {
    title: "azlb",
    version: "1",
    description:
      "What the controller knows, read-only: but for probes, nothing is read from Azure or the API server to answer.",
  },
  paths: {
    "/api/v1/overview": get("How things stand, on one line", ALL, "Overview"),
    "/api/v1/services": get("Services, those that need a person first", `${ALL}, or in \`namespace\``, "Services", [
      query("namespace", "only of this one", text),
      query("state", "only in this state", one(SERVICE_STATES)),
      query("attention", "only these", one(ATTENTIONS)),
      query("drifted", "only those that Azure differs from", one(["true"])),
      query("search", "a part of namespace/name, or of an address", text),
      ...PAGE,
    ]),
    "/api/v1/services/{namespace}/{name}": get("One Service in full", ONE, "ServiceDetail", [
      ...SERVICE,
      query("members", "how many members of each pool are shown (100)", count),
    ]),
    "/api/v1/services/{namespace}/{name}/reach": get("Would a packet get there, and what decides it", ONE, "Reach", [
      ...SERVICE,
      { ...query("from", "the source's IP address", text), required: true },
      query("port", "one of its ports (all)", count),
    ]),
    "/api/v1/services/{namespace}/{name}/probes": get(
      "What Azure's probes have found of its members: asks Azure, unless it did a moment ago",
      ONE,
      "Probes",
      SERVICE,
    ),
    "/api/v1/nodes": get("Nodes as load balancers see them, draining ones first", ALL, "Nodes", [SEARCH, ...PAGE]),
    "/api/v1/loadbalancers": get("Load balancers and the security group, with Azure's limits", ALL, "LoadBalancers"),
    "/api/v1/writes": get("The last writes to Azure, newest first", ALL, "Writes", [
      query("limit", "at most 200 (50)", count),
    ]),
    "/api/v1/changes": {
      get: {
        summary: "Server-sent events: the overview, or one Service, now and after each change",
        description: `Needs the right to ${ALL}; for one Service, to ${ONE}. Ends within a minute, with the event \`again\`: open another.`,
        parameters: [query("service", "NAMESPACE/NAME: that Service in full", text)],
        responses: { "200": { description: "events named `view`", content: { "text/event-stream": {} } } },
      },
    },
  },
  components: {
    schemas: SCHEMAS,
    securitySchemes: {
      token: {
        type: "apiKey",
        in: "header",
        name: "X-Azlb-Token",
        description:
          "A token of the cluster for the audience azlb; `Authorization: Bearer` works where no proxy takes it.",
      },
    },
  },
  security: [{ token: [] }],
} as const;
