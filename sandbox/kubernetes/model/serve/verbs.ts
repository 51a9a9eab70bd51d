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

export function serveResource(deciding: Deciding, request: ApiRequest, target: Target): Outcome {
  const resource = findResource(deciding.state, target.group, target.version, target.plural);
  if (resource === undefined) return { reply: unknownResource(deciding, target), changes: [] };
  if (target.namespace !== undefined && !resource.namespaced)
    return { reply: unknownResource(deciding, target), changes: [] };
  const sub = subresourceOf(resource, target);
  if (request.bodyProblem !== undefined) throw badRequest(request.bodyProblem);
  if (target.name === undefined) return onCollection(deciding, request, target, resource);
  return onObject(deciding, request, { ...target, name: target.name }, resource, sub);
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

function onCollection(deciding: Deciding, request: ApiRequest, target: Target, resource: Resource): Outcome {
  const { query } = request;
  switch (request.method) {
    case "GET":
      return {
        reply: isTrue(query["watch"])
          ? watched(deciding, request, target, resource)
          : listed(deciding, request, target, resource),
        changes: [],
      };
    case "POST": {
      const write = writing(deciding, request, target, resource);
      return outcome(write, request, create(write, request.body), 201);
    }
    case "DELETE":
      return removeAll(deciding, request, target, resource);
    default:
      throw methodNotAllowed();
  }
}

function onObject(
  deciding: Deciding,
  request: ApiRequest,
  target: Target & { name: string },
  resource: Resource,
  sub: Subresource,
): Outcome {
  const write = writing(deciding, request, target, resource);
  switch (request.method) {
    case "GET":
      if (isTrue(request.query["watch"]))
        return { reply: watchedByName(deciding, request, target, resource), changes: [] };
      return { reply: got(deciding, request, target, resource), changes: [] };
    case "PUT":
      return outcome(write, request, update(write, target.name, sub, request.body), 200);
    case "PATCH":
      return outcome(write, request, patch(write, target.name, sub, request.contentType, request.body), 200);
    case "DELETE": {
      if (sub !== undefined) throw methodNotAllowed();
      const options = parseDeleteOptions(request.body, request.query);
      const removed = remove(write, target.name, options);
      if (!removed.removed || resource.deleteAnswersObject) return outcome(write, request, removed, 200);
      return { reply: success(resource, removed.object), changes: write.transaction.changes };
    }
    default:
      throw methodNotAllowed();
  }
}

function got(deciding: Deciding, request: ApiRequest, target: Target & { name: string }, resource: Resource): Answer {
  const { name, namespace } = target;
  checkReached(deciding.state, parseVersion(request.query["resourceVersion"]));
  const key = keyOf({ metadata: { name, ...(namespace === undefined ? {} : { namespace }) } });
  const object = objectAt(deciding.state, resource.collection, key);
  if (object === undefined) throw notFound(resource, name);
  return answer(200, presentObject(presenting(deciding, request, resource), object));
}

function listed(deciding: Deciding, request: ApiRequest, target: Target, resource: Resource): Answer {
  const page = list(deciding.state, resource, target.namespace, request.query);
  return answer(200, presentList(presenting(deciding, request, resource), page));
}

function watched(deciding: Deciding, request: ApiRequest, target: Target, resource: Resource): Reply {
  return openWatch({
    state: deciding.state,
    resource,
    namespace: target.namespace,
    query: request.query,
    present: watchPresenter(presenting(deciding, request, resource)),
    nowMs: deciding.nowMs,
    jitter: deciding.draws.integer(1000) / 1000,
  });
}

function watchedByName(deciding: Deciding, request: ApiRequest, target: Target, resource: Resource): Reply {
  const query = { ...request.query, fieldSelector: `metadata.name=${target.name ?? ""}` };
  return watched(deciding, { ...request, query }, target, resource);
}

function removeAll(deciding: Deciding, request: ApiRequest, target: Target, resource: Resource): Outcome {
  const page = list(deciding.state, resource, target.namespace, request.query);
  const options = parseDeleteOptions(request.body, request.query);
  const transaction = new Transaction(deciding.state);
  for (const { metadata } of page.items) {
    const write = {
      ...writing(deciding, request, { ...target, namespace: metadata.namespace }, resource),
      transaction,
    };
    remove(write, metadata.name ?? "", options);
  }
  const reply = answer(200, presentList(presenting(deciding, request, resource), page));
  return { reply, changes: transaction.changes };
}

function writing(deciding: Deciding, request: ApiRequest, target: Target, resource: Resource): Write {
  const { query } = request;
  const dryRun = query["dryRun"] ?? asDryRun(request.body, request.method);
  if (dryRun !== undefined && dryRun !== "All" && dryRun !== "") {
    throw badRequest(`invalid dryRun "${dryRun}": the only value is All`);
  }
  return {
    ...deciding,
    resource,
    namespace: target.namespace,
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

function presenting(deciding: Deciding, request: ApiRequest, resource: Resource): Parameters<typeof presentObject>[0] {
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
