/**
 * A real kube-apiserver that writes down each request, with the roles of some manifests and a kubeconfig for whom they are
 * bound to: so that what roles grant can be held against what their holder did. It does without streamed lists, as
 * servers before 1.34 do: only there the controller has to list.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { parseAllDocuments } from "yaml";

import { openCertificateAuthority } from "../../sandbox/shared/certificate-authority.ts";
import type { Cluster } from "../support/cluster.ts";
import { type ControlPlaneOptions, type RunningControlPlane, startControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { connect, writeKubeconfig } from "../support/kube-connection.ts";

const USER = "system:serviceaccount:kube-system:azlb-controller";

const REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const WITHIN_MS = 60_000;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
  readonly roleRef?: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects?: readonly object[];
}

interface AuditedRequest {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly apiGroup?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code: number };
}

/** One request of the controller, as `verb group/resource/subresource`. */
export interface Done {
  readonly what: string;
  readonly group: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly code: number;
}

/** One verb on one resource: everywhere, in the role's namespace, or on one name there. */
interface Grant {
  readonly what: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

export class ConfinedPlane {
  /** With the roles alone. */
  readonly kubeconfig: string;
  readonly #folder: string;
  readonly #plane: RunningControlPlane;
  readonly #manifests: readonly Manifest[];

  private constructor(folder: string, plane: RunningControlPlane, manifests: readonly Manifest[]) {
    this.kubeconfig = join(folder, "kubeconfig");
    this.#folder = folder;
    this.#plane = plane;
    this.#manifests = manifests;
  }

  /** `files`: in `deploy`. `bound`: roles that they bind to no account, and that are bound to the controller's. */
  static async start(
    files: readonly string[],
    options: ControlPlaneOptions = {},
    bound: readonly string[] = [],
  ): Promise<ConfinedPlane> {
    const folder = mkdtempSync(join(tmpdir(), "azlb-rbac-"));
    const texts = files.map((file) => readFileSync(resolve(import.meta.dirname, "../../deploy", file), "utf8"));
    const read = texts.flatMap((text) => parseAllDocuments(text).map((one) => one.toJS() as Manifest));
    const manifests = [...read, ...read.filter(({ metadata }) => bound.includes(metadata.name)).map(bindingOf)];
    const plane = await startControlPlane({ ...options, auditLog: join(folder, "audit.log"), without: ["WatchList"] });
    const confined = new ConfinedPlane(folder, plane, manifests);
    await confined.#apply();
    await confined.#inForce();
    await confined.#writeKubeconfig();
    return confined;
  }

  /** Waits until the server judges by these rules of the roles: it learns of a change a moment after it is made. */
  async #inForce(): Promise<void> {
    const admin = connect(this.#plane.kubeconfig);
    const questions = this.#manifests.flatMap(({ metadata: { namespace }, rules = [] }) =>
      rules.map((rule) => ({ user: USER, resourceAttributes: firstOf(rule, namespace) })),
    );
    for (const spec of questions) {
      await eventually(async () => {
        const reply = await admin.request("POST", REVIEWS, { body: { spec } });
        assert.equal((reply.body["status"] as { allowed: boolean }).allowed, true, JSON.stringify(spec));
      }, WITHIN_MS);
    }
    await admin.close();
  }

  /** With full rights; closing it closes the plane. */
  cluster(): Cluster {
    const { kubeconfig } = this.#plane;
    const connection = connect(kubeconfig);
    return {
      ...connection,
      kubeconfig,
      compact: () => Promise.resolve(),
      close: async () => {
        await connection.close();
        await this.#plane.close();
        rmSync(this.#folder, { recursive: true, force: true });
      },
    };
  }

  /** What the controller has asked for so far. */
  requests(): readonly Done[] {
    const lines = readFileSync(join(this.#folder, "audit.log"), "utf8").split("\n");
    return lines.slice(0, -1).flatMap((line) => {
      const { verb, user, objectRef, responseStatus } = JSON.parse(line) as AuditedRequest;
      if (user.username !== USER || objectRef === undefined) return [];
      const { apiGroup: group = "", resource, subresource, namespace, name } = objectRef;
      const what = named(verb, group, subresource === undefined ? resource : `${resource}/${subresource}`);
      return [{ what, group, namespace, name, code: responseStatus?.code ?? 0 }];
    });
  }

  /** All that the roles of that name grant, as requests are named. */
  granted(role: string): readonly string[] {
    return [...new Set(this.#grants(role).map(({ what }) => what))].toSorted();
  }

  /** What the roles of that name grant too widely: each grant that no request needed which no other one allows. */
  unneeded(role: string, requests: readonly Done[]): readonly string[] {
    const grants = this.#grants(role);
    const needed = new Set<Grant>();
    for (const request of requests.filter(({ code }) => code < 300)) {
      const [grant, ...others] = grants.filter((one) => allows(one, request));
      if (grant !== undefined && others.length === 0) needed.add(grant);
    }
    const left = grants.filter((grant) => !needed.has(grant));
    return left.map(({ what, namespace = "everywhere", name = "all" }) => `${what}, ${namespace}, ${name}`);
  }

  #grants(role: string): readonly Grant[] {
    const roles = this.#manifests.filter(({ metadata }) => metadata.name === role);
    return roles.flatMap(({ metadata: { namespace }, rules = [] }) =>
      rules.flatMap(({ apiGroups, resources, verbs, resourceNames = [undefined] }) => {
        const whats = apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.map((verb) => named(verb, group, resource))),
        );
        return whats.flatMap((what) => resourceNames.map((name) => ({ what, namespace, name })));
      }),
    );
  }

  async #apply(): Promise<void> {
    const admin = connect(this.#plane.kubeconfig);
    for (const manifest of this.#manifests) {
      const reply = await admin.request("POST", collectionOf(manifest), { body: manifest });
      assert.equal(reply.code, 201, reply.text);
    }
    await admin.close();
  }

  async #writeKubeconfig(): Promise<void> {
    const { kubeconfig, url } = this.#plane;
    const authority = await openCertificateAuthority(join(dirname(kubeconfig), "ca"));
    const { certPem, keyPem } = await authority.issueClient({ user: USER });
    writeKubeconfig(this.kubeconfig, { url, caPem: authority.caPem, certPem, keyPem });
  }
}

function bindingOf({ apiVersion, kind, metadata }: Manifest): Manifest {
  const apiGroup = "rbac.authorization.k8s.io";
  return {
    apiVersion,
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup, kind, name: metadata.name },
    subjects: [{ kind: "User", apiGroup, name: USER }],
  };
}

/** One request that it allows. */
function firstOf({ apiGroups, resources, verbs, resourceNames }: Rule, namespace: string | undefined): object {
  const [resource, subresource] = (resources[0] ?? "").split("/");
  return { verb: verbs[0], group: apiGroups[0], resource, subresource, namespace, name: resourceNames?.[0] };
}

function allows({ what, namespace, name }: Grant, request: Done): boolean {
  return (
    request.what === what &&
    (namespace === undefined || request.namespace === namespace) &&
    (name === undefined || request.name === name)
  );
}

/** What succeeded, each once; nothing may have been refused. */
export function usedOf(requests: readonly Done[]): readonly string[] {
  const refused = requests.filter(({ code }) => code === 403).map(({ what }) => what);
  assert.deepEqual([...new Set(refused)], [], "refused");
  return [...new Set(requests.filter(({ code }) => code < 300).map(({ what }) => what))].toSorted();
}

function named(verb: string, group: string, resource: string): string {
  return `${verb} ${group === "" ? "" : `${group}/`}${resource}`;
}

function collectionOf({ apiVersion, kind, metadata }: Manifest): string {
  const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  const namespace = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
  return `${root}${namespace}/${kind.toLowerCase()}s`;
}
