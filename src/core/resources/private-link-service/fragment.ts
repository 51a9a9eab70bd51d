/**
 * What one Service wants of one private link service, as data. It belongs to the Service that its tag names; Services
 * that share its frontend use it along.
 * Made by `desired-private-link-service.ts` and `reconcile-private-link-service.ts`, put in by
 * `merge-private-link-service.ts`.
 */
import type { PrivateLinkAddress, PrivateLinkService } from "../../model/arm.ts";
import type { Owner } from "../../outcome.ts";

interface OfOwner {
  readonly owner: Owner;
  /** A private link service of any other cluster, or of none, is never changed. */
  readonly clusterName: string;
}

export type PrivateLinkServiceFragment =
  /** It stands on the Service's frontend, as the Service asks. */
  | (OfOwner & {
      readonly kind: "present";
      /** What it is made of when it does not exist yet. */
      readonly create: PrivateLinkService;
      /** Id of the frontend. */
      readonly frontend: string;
      readonly addresses: readonly PrivateLinkAddress[];
      readonly fqdns: readonly string[];
      readonly proxyProtocol: boolean;
      readonly visibility: readonly string[];
      readonly autoApproval: readonly string[];
      readonly tags: Readonly<Record<string, string>>;
      /** Prefixes of tags that survive although they are not configured; empty: every tag survives. */
      readonly systemTags: readonly string[];
      /** The Service, as the tag has it, that has left the frontend: it may be taken over from that one. */
      readonly formerOwner: string | undefined;
    })
  /** Its frontend is about to go, and it goes before, once it has no connections. */
  | (OfOwner & {
      readonly kind: "absent";
      /** Ids, in lower case, of the frontends that are about to go. */
      readonly frontends: ReadonlySet<string>;
    })
  /** The owner leaves a frontend that another Service goes on using, which asks for a private link service as well. */
  | (OfOwner & { readonly kind: "handedOver"; readonly to: string });
