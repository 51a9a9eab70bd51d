/** Serves requests on resources: finds the resource, dispatches on the verb, renders the result. */
import type { Answer, ApiRequest, Change, JsonObject, KubeObject, Reply } from "../contract.ts";
import { list } from "../read/list.ts";
import { acceptedShape, presentList, presentObject, watchPresenter } from "../read/present.ts";
import { checkReached, parseVersion } from "../read/resource-version.ts";
import { isTrue, openWatch } from "../read/watch.ts";
import { findResource, servedResources } from "../registry.ts";
import type { DecisionContext, Resource, SubresourceName } from "../resource.ts";
import type { FieldValidation } from "../schema/decode-body.ts";
import { actingUser } from "../access/user.ts";
import { keyOf, objectAt } from "../state.ts";
import {
  badRequest,
  type Cause,
  forbiddenField,
  invalid,
  methodNotAllowed,
  notFound,
  required,
  StatusError,
  tooLong,
} from "../status-error.ts";
import { Transaction } from "../transaction.ts";
import { apply, APPLY_PATCH } from "../write/apply.ts";
import { create } from "../write/create.ts";
import { parseDeleteOptions, remove } from "../write/delete.ts";
import { patch } from "../write/patch.ts";
import { update } from "../write/update.ts";
import { incoming, type Write, type Written } from "../write/write.ts";
import type { Target } from "./route.ts";
import { serveSubresource } from "./subresources.ts";

/** The reply, and the changes to commit before it is sent. */
export interface Outcome {
  readonly reply: Reply;
  readonly changes: readonly Change[];
}

const PAGE_NOT_FOUND: Answer = { kind: "answer", status: 404, body: "404 page not found\n", contentType: "text/plain" };

/** A request with its resolved resource. */
interface Call {
  readonly context: DecisionContext;
  readonly request: ApiRequest;
  readonly resource: Resource;
  readonly namespace: string | undefined;
}

export function serveResource(context: DecisionContext, request: ApiRequest, target: Target): Outcome {
  const { namespace, name } = target;
  const resource = findResource(context.state, target.group, target.version, target.plural);
  if (resource === undefined || (namespace !== undefined && !resource.namespaced)) {
    return unchanged(unknownResource(context, target));
  }
  const sub = subresourceOf(resource, target);
  if (request.bodyProblem !== undefined) throw badRequest(request.bodyProblem);
  const call: Call = { context, request, resource, namespace };
  return name === undefined ? onCollection(call) : onObject(call, name, sub);
}

function unknownResource({ state }: DecisionContext, target: Target): Answer {
  const known = servedResources(state).some(
    ({ group, version }) => group === target.group && version === target.version,
  );
  if (!known) return PAGE_NOT_FOUND;
  throw new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}

function subresourceOf(resource: Resource, { subresource }: Target): SubresourceName | undefined {
  if (subresource === undefined) return undefined;
  const known = resource.subresources.find((name) => name === subresource);
  if (known !== undefined) return known;
  throw new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}

function onCollection(call: Call): Outcome {
  const { request, resource } = call;
  if (resource.review !== undefined) return unchanged(answerReview(call, resource.review));
  switch (request.method) {
    case "GET":
      return unchanged(isTrue(request.query["watch"]) ? watchObjects(call, request.query) : listObjects(call));
    case "POST": {
      const write = newWrite(call);
      return outcome(write, request, create(write, request.body), 201);
    }
    case "DELETE":
      return removeAll(call);
    default:
      throw methodNotAllowed();
  }
}

function onObject(call: Call, name: string, sub: SubresourceName | undefined): Outcome {
  const { request, resource } = call;
  const write = newWrite(call);
  if (sub === "scale" || sub === "eviction" || sub === "token") {
    const { status, body } = serveSubresource(write, name, sub, request);
    return { reply: answer(status, body), changes: write.transaction.changes };
  }
  switch (request.method) {
    case "GET": {
      const byName = { ...request.query, fieldSelector: `metadata.name=${name}` };
      return unchanged(isTrue(request.query["watch"]) ? watchObjects(call, byName) : getObject(call, name));
    }
    case "PUT":
      return outcome(write, request, update(write, name, sub, request.body), 200);
    case "PATCH":
      if (request.contentType === APPLY_PATCH) {
        const applied = apply(write, name, sub, request.body);
        return outcome(write, request, applied, applied.created ? 201 : 200);
      }
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

/** A kind that is asked, not stored. */
function answerReview(call: Call, review: NonNullable<Resource["review"]>): Answer {
  const { context, request, namespace } = call;
  if (request.method !== "POST") throw methodNotAllowed();
  const asked = incoming(newWrite(call), request.body, undefined);
  return answer(201, review(asked, { context, namespace, user: actingUser(request) }));
}

/** A reply that changes nothing. */
function unchanged(reply: Reply): Outcome {
  return { reply, changes: [] };
}

function getObject(call: Call, name: string): Answer {
  const { context, request, resource, namespace } = call;
  checkReached(context.state, parseVersion(request.query["resourceVersion"]));
  const key = keyOf({ metadata: { name, ...(namespace === undefined ? {} : { namespace }) } });
  const object = objectAt(context.state, resource.collection, key);
  if (object === undefined) throw notFound(resource, name);
  return answer(200, presentObject(presentingOf(call), object));
}

function listObjects(call: Call): Answer {
  const page = list(call.context.state, call.resource, call.namespace, call.request.query);
  return answer(200, presentList(presentingOf(call), page));
}

function watchObjects(call: Call, query: ApiRequest["query"]): Reply {
  const { context, resource, namespace } = call;
  return openWatch({
    state: context.state,
    resource,
    namespace,
    query,
    present: watchPresenter(presentingOf(call)),
    nowMs: context.nowMs,
    jitter: context.draws.integer(1000) / 1000,
  });
}

function removeAll(call: Call): Outcome {
  const { context, request, resource, namespace } = call;
  const page = list(context.state, resource, namespace, request.query);
  const options = parseDeleteOptions(request.body, request.query);
  const transaction = new Transaction(context.state);
  for (const { metadata } of page.items) {
    remove({ ...newWrite(call), namespace: metadata.namespace, transaction }, metadata.name ?? "", options);
  }
  return { reply: answer(200, presentList(presentingOf(call), page)), changes: transaction.changes };
}

function newWrite({ context, request, resource, namespace }: Call): Write {
  const { query } = request;
  const dryRun = query["dryRun"] ?? dryRunInBody(request.body, request.method);
  if (dryRun !== undefined && dryRun !== "All" && dryRun !== "") {
    throw badRequest(`invalid dryRun "${dryRun}": the only value is All`);
  }
  return {
    ...context,
    resource,
    namespace,
    transaction: new Transaction(context.state),
    dryRun: dryRun === "All",
    ...patchOptions(request),
    fieldValidation: fieldValidation(query["fieldValidation"]),
    warnings: [],
  };
}

const LONGEST_MANAGER = 128;

/** Who writes, and whether an apply takes over what others own. */
function patchOptions(request: ApiRequest): { manager: string; force: boolean } {
  const { fieldManager = "", force } = request.query;
  const isApply = request.method === "PATCH" && request.contentType === APPLY_PATCH;
  const problems: Cause[] = [];
  if (isApply && fieldManager === "") problems.push(required("fieldManager", "is required for apply patch"));
  if (fieldManager.length > LONGEST_MANAGER) problems.push(tooLong("fieldManager", LONGEST_MANAGER));
  if (request.method === "PATCH" && !isApply && force !== undefined) {
    problems.push(forbiddenField("force", "may not be specified for non-apply patch"));
  }
  if (problems.length > 0) {
    const kind = { PATCH: "PatchOptions", PUT: "UpdateOptions" }[request.method] ?? "CreateOptions";
    throw invalid({ group: "meta.k8s.io", kind, plural: "" }, "", problems);
  }
  const agent = (request.userAgent ?? "").split("/")[0]?.slice(0, LONGEST_MANAGER) ?? "";
  return { manager: fieldManager === "" ? agent : fieldManager, force: isTrue(force) };
}

/** DELETE has `dryRun` in its body. */
function dryRunInBody(body: unknown, method: string): string | undefined {
  if (method !== "DELETE") return undefined;
  const asked = (body as { dryRun?: string[] } | undefined)?.dryRun;
  return asked?.[0];
}

function fieldValidation(value: string | undefined): FieldValidation {
  if (value === undefined || value === "") return "Warn";
  if (value === "Strict" || value === "Warn" || value === "Ignore") return value;
  throw badRequest(`invalid fieldValidation "${value}": use Strict, Warn or Ignore`);
}

function presentingOf({ context, request, resource }: Call): Parameters<typeof presentObject>[0] {
  const shape = acceptedShape(request.accept);
  return { resource, shape, nowMs: context.nowMs, includeObject: request.query["includeObject"] };
}

function outcome(write: Write, request: ApiRequest, written: Written, status: number): Outcome {
  // `written.object` is already converted to the served version.
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
