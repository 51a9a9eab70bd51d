/**
 * Who may see what, decided by the cluster: a caller's token is checked by TokenReview, for the audience `azlb` alone, and
 * what the caller may see by SubjectAccessReview. So the rights on Services are the rights here.
 *
 *   asks for                      | must be allowed to
 *   ------------------------------|----------------------------------------
 *   the whole view                | list services, in the whole cluster
 *   the Services of a namespace   | list services, in that namespace
 *   one Service                   | get that Service
 *
 * A token is never kept: answers are remembered under its hash, for at most a minute. Wrong tokens cost the API server no
 * more than a few reviews at a time.
 */
import { createHash } from "node:crypto";

import type { Clock } from "../core/util/clock.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import type { KubeObject, Resource } from "../kube/client/resources.ts";

const AUDIENCE = "azlb";

/** What is asked for; without a namespace: everything. */
export interface Scope {
  readonly namespace?: string;
  readonly name?: string;
}

export type Admission = "granted" | "unauthenticated" | "forbidden" | "busy";

export interface Authorizer {
  /** `token`: absent where the caller brought none. Fails where the cluster cannot be asked. */
  admit(token: string | undefined, scope: Scope): Promise<Admission>;
  /** How long a stream may last before its caller is asked again; absent: for ever. */
  readonly lastsMs?: number;
}

/** For the sandbox, on loopback: every client may see everything. */
export const OPEN: Authorizer = { admit: () => Promise.resolve("granted") };

const TOKEN_REVIEWS: Resource = {
  group: "authentication.k8s.io",
  version: "v1",
  plural: "tokenreviews",
  kind: "TokenReview",
  namespaced: false,
};
const ACCESS_REVIEWS: Resource = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "subjectaccessreviews",
  kind: "SubjectAccessReview",
  namespaced: false,
};

interface User {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

interface TokenReview extends KubeObject {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: User;
    readonly audiences?: readonly string[];
  };
}

interface AccessReview extends KubeObject {
  readonly status?: { readonly allowed?: boolean };
}

interface Known {
  readonly untilMs: number;
  readonly user: Promise<User | undefined>;
  readonly granted: Map<string, Promise<boolean>>;
}

/** Reviews are not stored. */
const NAMELESS = { name: "" };
const LASTS_MS = 60_000;
const REFUSAL_LASTS_MS = 10_000;
const MOST_KNOWN = 1_000;
const MOST_SCOPES = 1_000;
const MOST_REVIEWS = 8;
const LONGEST_TOKEN = 16_384;

export class ClusterAuthorizer implements Authorizer {
  readonly lastsMs = LASTS_MS - 5_000;
  readonly #client: Pick<KubeClient, "create">;
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** By the hash of the token. */
  readonly #known = new Map<string, Known>();
  #reviews = 0;

  constructor(client: Pick<KubeClient, "create">, clock: Pick<Clock, "monotonicMs">) {
    this.#client = client;
    this.#clock = clock;
  }

  async admit(token: string | undefined, scope: Scope): Promise<Admission> {
    if (token === undefined || token === "" || token.length > LONGEST_TOKEN) return "unauthenticated";
    const hash = createHash("sha256").update(token).digest("base64");
    const known = this.#fresh(hash) ?? (this.#reviews < MOST_REVIEWS ? this.#ask(hash, token) : undefined);
    if (known === undefined) return "busy";
    const user = await known.user;
    if (user === undefined) return "unauthenticated";
    return (await this.#mayRead(known, user, scope)) ? "granted" : "forbidden";
  }

  #fresh(hash: string): Known | undefined {
    const known = this.#known.get(hash);
    return known !== undefined && known.untilMs > this.#clock.monotonicMs() ? known : undefined;
  }

  #ask(hash: string, token: string): Known {
    const nowMs = this.#clock.monotonicMs();
    for (const [each, { untilMs }] of this.#known) if (untilMs <= nowMs) this.#known.delete(each);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    const user = this.#counted(() => this.#userOf(token));
    const granted = new Map<string, Promise<boolean>>();
    const known: Known = { untilMs: nowMs + LASTS_MS, user, granted };
    this.#known.set(hash, known);
    void user.then(
      (found) => {
        if (found === undefined) this.#known.set(hash, { ...known, untilMs: nowMs + REFUSAL_LASTS_MS });
      },
      () => this.#known.delete(hash), // the API server gave no answer: asked again
    );
    return known;
  }

  async #userOf(token: string): Promise<User | undefined> {
    const review = { metadata: NAMELESS, spec: { token, audiences: [AUDIENCE] } };
    const { status } = await this.#client.create<TokenReview>(TOKEN_REVIEWS, review);
    const isForUs = status?.authenticated === true && status.audiences?.includes(AUDIENCE) === true;
    return isForUs ? (status.user ?? {}) : undefined;
  }

  #mayRead({ granted }: Known, user: User, { namespace, name }: Scope): Promise<boolean> {
    const key = `${namespace ?? ""}/${name ?? ""}`;
    const known = granted.get(key);
    if (known !== undefined) return known;
    if (granted.size >= MOST_SCOPES) granted.clear();
    const asked = this.#counted(() =>
      this.#reviewAccess(user, { ...(namespace && { namespace }), ...(name && { name }) }),
    );
    granted.set(key, asked);
    asked.catch(() => granted.delete(key));
    return asked;
  }

  async #reviewAccess({ username = "", uid = "", groups = [], extra = {} }: User, scope: Scope): Promise<boolean> {
    const verb = scope.name === undefined ? "list" : "get";
    const resourceAttributes = { verb, version: "v1", resource: "services", ...scope };
    const spec = { user: username, uid, groups, extra, resourceAttributes };
    const { status } = await this.#client.create<AccessReview>(ACCESS_REVIEWS, { metadata: NAMELESS, spec });
    return status?.allowed === true;
  }

  async #counted<R>(review: () => Promise<R>): Promise<R> {
    this.#reviews += 1;
    try {
      return await review();
    } finally {
      this.#reviews -= 1;
    }
  }
}
