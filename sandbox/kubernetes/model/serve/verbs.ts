/** Requests on resources: find the resource, do the verb, show the outcome as the client wants it. */
import type { Answer, ApiRequest, Change, JsonObject, KubeObject, Reply } from "../contract.ts";
import { list } from "../read/list.ts";
import { acceptedShape, presentList, presentObject, watchPresenter } from "../read/present.ts";
import { checkReached, parseVersion } from "../read/resource-version.ts";
import { isTrue, openWatch } from "../read/watch.ts";
import { findResource, servedResources } from "../registry.ts";
import type { Deciding, Resource } from "../resource.ts";
import type { FieldValidation } from "../schema/decode-body.ts";
import { keyOf, objectAt } from "../state.ts";
import { badRequest, methodNotAllowed, notFound, StatusError } from "../status-error.ts";
import { Transaction } from "../transaction.ts";
import { create } from "../write/create.ts";
import { parseDeleteOptions, remove } from "../write/delete.ts";
import { patch } from "../write/patch.ts";
import { update } from "../write/update.ts";
import type { Subresource, Write, Written } from "../write/write.ts";
import type { Target } from "./route.ts";

/** The reply and the changes that it stands for. */
export interface Outcome {
  readonly reply: Reply;
  readonly changes: readonly Change[];
}

const PAGE_NOT_FOUND: Answer = { kind: "answer", status: 404, body: "404 page not found\n", contentType: "text/plain" };

/** A request together with what it is about. */
interface Call {
  readonly deciding: Deciding;
  readonly request: ApiRequest;
  readonly resource: Resource;
  readonly namespace: string | undefined;
}

export function serveResource(deciding: Deciding, request: ApiRequest, target: Target): Outcome {
  const { namespace, name } = target;
  const resource = findResource(deciding.state, target.group, target.version, target.plural);
  if (resource === undefined || (namespace !== undefined && !resource.namespaced)) {
    return told(unknownResource(deciding, target));
  }
  const sub = subresourceOf(resource, target);
  if (request.bodyProblem !== undefined) throw badRequest(request.bodyProblem);
  const call: Call = { deciding, request, resource, namespace };
  return name === undefined ? onCollection(call) : onObject(call, name, sub);
}

function unknownResource({ state }: Deciding, target: Target): Answer {
  const known = servedResources(state).some(
    ({ group, version }) => group === target.group && version === target.version,
  );
  if (!known) return PAGE_NOT_FOUND;
  throw new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}

function subresourceOf(resource: Resource, { subresource }: Target): Subresource {
  if (subresource === undefined) return undefined;
  const known = resource.subresources.find((name) => name === subresource);
  if (known !== undefined) return known;
  throw new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}

function onCollection(call: Call): Outcome {
  const { request } = call;
  switch (request.method) {
    case "GET":
      return told(isTrue(request.query["watch"]) ? watched(call, request.query) : listed(call));
    case "POST": {
      const write = writing(call);
      return outcome(write, request, create(write, request.body), 201);
    }
    case "DELETE":
      return removeAll(call);
    default:
      throw methodNotAllowed();
  }
}

function onObject(call: Call, name: string, sub: Subresource): Outcome {
  const { request, resource } = call;
  const write = writing(call);
  switch (request.method) {
    case "GET": {
      const byName = { ...request.query, fieldSelector: `metadata.name=${name}` };
      return told(isTrue(request.query["watch"]) ? watched(call, byName) : got(call, name));
    }
    case "PUT":
      return outcome(write, request, update(write, name, sub, request.body), 200);
    case "PATCH":
      return outcome(write, request, patch(write, name, sub, request.contentType, request.body), 200);
    case "DELETE": {
      if (sub !== undefined) throw methodNotAllowed();
      const removed = remove(write, name, parseDeleteOptions(request.body, request.query));
      if (!removed.removed || resource.deleteAnswersObject) return outcome(write, request, removed, 200);
      return { reply: success(resource, removed.object), changes: write.transaction.changes };
    }
    default:
      throw methodNotAllowed();
  }
}

/** A reply that changes nothing. */
function told(reply: Reply): Outcome {
  return { reply, changes: [] };
}

function got(call: Call, name: string): Answer {
  const { deciding, request, resource, namespace } = call;
  checkReached(deciding.state, parseVersion(request.query["resourceVersion"]));
  const key = keyOf({ metadata: { name, ...(namespace === undefined ? {} : { namespace }) } });
  const object = objectAt(deciding.state, resource.collection, key);
  if (object === undefined) throw notFound(resource, name);
  return answer(200, presentObject(presenting(call), object));
}

function listed(call: Call): Answer {
  const page = list(call.deciding.state, call.resource, call.namespace, call.request.query);
  return answer(200, presentList(presenting(call), page));
}

function watched(call: Call, query: ApiRequest["query"]): Reply {
  const { deciding, resource, namespace } = call;
  return openWatch({
    state: deciding.state,
    resource,
    namespace,
    query,
    present: watchPresenter(presenting(call)),
    nowMs: deciding.nowMs,
    jitter: deciding.draws.integer(1000) / 1000,
  });
}

function removeAll(call: Call): Outcome {
  const { deciding, request, resource, namespace } = call;
  const page = list(deciding.state, resource, namespace, request.query);
  const options = parseDeleteOptions(request.body, request.query);
  const transaction = new Transaction(deciding.state);
  for (const { metadata } of page.items) {
    remove({ ...writing(call), namespace: metadata.namespace, transaction }, metadata.name ?? "", options);
  }
  return { reply: answer(200, presentList(presenting(call), page)), changes: transaction.changes };
}

function writing({ deciding, request, resource, namespace }: Call): Write {
  const { query } = request;
  const dryRun = query["dryRun"] ?? asDryRun(request.body, request.method);
  if (dryRun !== undefined && dryRun !== "All" && dryRun !== "") {
    throw badRequest(`invalid dryRun "${dryRun}": the only value is All`);
  }
  return {
    ...deciding,
    resource,
    namespace,
    transaction: new Transaction(deciding.state),
    dryRun: dryRun === "All",
    fieldValidation: fieldValidation(query["fieldValidation"]),
    warnings: [],
  };
}

/** Only a DELETE says it in its body. */
function asDryRun(body: unknown, method: string): string | undefined {
  if (method !== "DELETE") return undefined;
  const asked = (body as { dryRun?: string[] } | undefined)?.dryRun;
  return asked?.[0];
}

function fieldValidation(value: string | undefined): FieldValidation {
  if (value === undefined || value === "") return "Warn";
  if (value === "Strict" || value === "Warn" || value === "Ignore") return value;
  throw badRequest(`invalid fieldValidation "${value}": use Strict, Warn or Ignore`);
}

function presenting({ deciding, request, resource }: Call): Parameters<typeof presentObject>[0] {
  const shape = acceptedShape(request.accept);
  return { resource, shape, nowMs: deciding.nowMs, includeObject: request.query["includeObject"] };
}

function outcome(write: Write, request: ApiRequest, written: Written, status: number): Outcome {
  // What is written comes back in this version's words already; a table of it is made from the same.
  const shape = acceptedShape(request.accept);
  const body =
    shape === "object"
      ? written.object
      : presentObject(
          { resource: write.resource, shape, nowMs: write.nowMs, includeObject: undefined },
          written.object,
        );
  return { reply: { ...answer(status, body), warnings: write.warnings }, changes: write.transaction.changes };
}

function success(resource: Resource, object: KubeObject): Answer {
  const details: JsonObject = {
    name: object.metadata.name,
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.plural,
    uid: object.metadata.uid,
  };
  return answer(200, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details });
}

function answer(status: number, body: unknown): Answer {
  return { kind: "answer", status, body };
}
