/** Kinds that are asked and never stored: who a token is, what a user may do. */
import { allowedBecause, type Attributes, rulesOf } from "../access/rbac.ts";
import { userOfClaims } from "../access/user.ts";
import type { JsonObject, KubeObject, User } from "../contract.ts";
import { asArray, asObject, asString } from "../json.ts";
import { type Asker, part, type Resource } from "../resource.ts";
import { typeOfKind } from "../schema/types.ts";
import { timestamp } from "../write/write.ts";
import { defineKind } from "./define.ts";

const AUTHENTICATION = "authentication.k8s.io";
const AUTHORIZATION = "authorization.k8s.io";

function review(
  group: string,
  kind: string,
  plural: string,
  answer: NonNullable<Resource["review"]>,
  namespaced = false,
): Resource {
  return defineKind({ group, kind, plural, namespaced, fields: typeOfKind(group, "v1", kind), review: answer });
}

function answered(asked: KubeObject, status: JsonObject): JsonObject {
  return {
    kind: asked.kind,
    apiVersion: asked.apiVersion,
    metadata: asked.metadata,
    spec: part(asked, "spec"),
    status,
  };
}

/** What a SubjectAccessReview asks for. */
function attributesOf(spec: JsonObject, home?: string): Attributes {
  const { verb, path } = asObject(spec["nonResourceAttributes"]);
  if (spec["nonResourceAttributes"] !== undefined) return { kind: "path", verb: asString(verb), path: asString(path) };
  const given = asObject(spec["resourceAttributes"]);
  const text = (field: string): string => asString(given[field]);
  return {
    kind: "resource",
    verb: text("verb"),
    group: text("group"),
    resource: text("resource"),
    subresource: text("subresource"),
    namespace: text("namespace") || (home ?? ""),
    name: text("name"),
  };
}

function decision({ context }: Asker, user: User, asked: Attributes): JsonObject {
  const reason = allowedBecause(context.state, user, asked);
  if (reason === undefined) return { allowed: false };
  return reason === "" ? { allowed: true } : { allowed: true, reason };
}

function subjectOf({ user, groups, uid }: JsonObject): User {
  return {
    username: asString(user),
    groups: asArray(groups).map(asString),
    ...(typeof uid === "string" ? { uid } : {}),
  };
}

const accessOf = (asked: KubeObject, asker: Asker): JsonObject => {
  const spec = part(asked, "spec");
  return answered(asked, decision(asker, subjectOf(spec), attributesOf(spec, asker.namespace)));
};

function rulesReview(asked: KubeObject, { context, user }: Asker): JsonObject {
  const rules = rulesOf(context.state, user, asString(part(asked, "spec")["namespace"]));
  const status = {
    resourceRules: rules.filter((rule) => rule["resources"] !== undefined),
    nonResourceRules: rules.filter((rule) => rule["nonResourceURLs"] !== undefined),
    incomplete: false,
  };
  return { ...answered(asked, status), spec: {} };
}

function tokenReview(asked: KubeObject, { context }: Asker): JsonObject {
  const spec = part(asked, "spec");
  const claims = context.tokens?.read(asString(spec["token"]));
  const known = claims === undefined ? "invalid bearer token" : userOfClaims(context.state, claims, context.nowMs);
  const refused = (error: string): JsonObject => answered(asked, { user: {}, error });
  if (typeof known === "string") return refused(known);
  const issued = asArray(claims?.["aud"]).map(asString);
  const wanted = asArray(spec["audiences"]).map(asString);
  const audiences = (wanted.length === 0 ? [context.tokens?.issuer ?? ""] : wanted).filter((name) =>
    issued.includes(name),
  );
  if (audiences.length === 0) return refused("invalid bearer token");
  return answered(asked, { authenticated: true, user: shownUser(known), audiences });
}

function shownUser({ username, uid, groups, extra }: User): JsonObject {
  return { username, ...(uid === undefined ? {} : { uid }), groups, ...(extra === undefined ? {} : { extra }) };
}

function whoAmI(asked: KubeObject, { user, context }: Asker): JsonObject {
  const { kind, apiVersion } = asked;
  const metadata = { creationTimestamp: timestamp(context.nowMs) };
  return { kind, apiVersion, metadata, status: { userInfo: shownUser(user) } };
}

export const reviewKinds: readonly Resource[] = [
  review(AUTHENTICATION, "SelfSubjectReview", "selfsubjectreviews", whoAmI),
  review(AUTHENTICATION, "TokenReview", "tokenreviews", tokenReview),
  review(AUTHORIZATION, "LocalSubjectAccessReview", "localsubjectaccessreviews", accessOf, true),
  review(AUTHORIZATION, "SelfSubjectAccessReview", "selfsubjectaccessreviews", (asked, asker) =>
    answered(asked, decision(asker, asker.user, attributesOf(part(asked, "spec")))),
  ),
  review(AUTHORIZATION, "SelfSubjectRulesReview", "selfsubjectrulesreviews", rulesReview),
  review(AUTHORIZATION, "SubjectAccessReview", "subjectaccessreviews", accessOf),
];
