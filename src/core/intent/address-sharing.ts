/**
 * Whether a Service may join an address that a Service of another namespace has, by the config's `addressSharing`. Only
 * for addresses: which ports are free there is decided elsewhere, whatever the namespaces.
 *
 *   addressSharing | a Service of another namespace than the holder's may join
 *   ---------------|---------------------------------------------------------------------
 *   any            | always, as with the incumbent
 *   namespace      | never
 *   consent        | if the holder names its namespace in `azlb.io/share-address-with`
 *
 * The holder of an address is the Service after which its frontend is named, else the oldest Service that has it.
 */
import type { AddressSharing } from "../config/cluster-config.ts";
import { ageOf, namespaceOfKey, serviceKey, type Service } from "../model/kubernetes.ts";
import { baseName } from "../model/names.ts";
import type { Rejection, Warning } from "../outcome.ts";
import { admits } from "../util/consent.ts";
import { OURS } from "./annotations/ours.ts";

/** `base`: of the frontend's name, in lower case; absent where there is no frontend. */
export function holderOf(services: Iterable<Service>, base?: string): Service | undefined {
  const sorted = [...services].sort((one, other) => (ageOf(one) < ageOf(other) ? -1 : 1));
  return sorted.find(({ metadata }) => baseName(metadata.uid).toLowerCase() === base) ?? sorted[0];
}

/** `joiner`: `namespace/name`. */
export function mayJoin(sharing: AddressSharing, holder: Service, joiner: string): boolean {
  const namespace = namespaceOfKey(joiner);
  if (sharing === "any" || namespaceOfKey(serviceKey(holder)) === namespace) return true;
  return sharing === "consent" && admits(consentsOf(holder), namespace);
}

/** Read by itself, so that it holds also where the rest of the holder's annotations is refused. */
export function consentsOf({ metadata }: Service): readonly string[] {
  return OURS.shareAddressWith.kind.read(metadata.annotations?.[OURS.shareAddressWith.key] ?? "").value ?? [];
}

/** `what`: the address, after the key that names it. `joiner`: `namespace/name`. */
export function refuseToJoin(sharing: AddressSharing, what: string, holder: Service, joiner: string): Rejection {
  const message = `${notShared(sharing, what, holder, joiner)}: use another address${consentText(sharing, joiner)}`;
  return { kind: "rejection", reason: "AddressTaken", message };
}

/** For a Service that was there before sharing was limited. */
export function warnOfJoined(sharing: AddressSharing, what: string, holder: Service, joiner: string): Warning {
  const stays = "it stays, since it was there before that was set; no other Service of its namespace may join";
  const message = `${notShared(sharing, what, holder, joiner)}: ${stays}${consentText(sharing, joiner)}`;
  return { reason: "AddressShared", message };
}

function notShared(sharing: AddressSharing, what: string, holder: Service, joiner: string): string {
  const setting = `(addressSharing: ${sharing})`;
  return `${what} is held by Service ${serviceKey(holder)}, which does not share it with namespace "${namespaceOfKey(joiner)}" ${setting}`;
}

function consentText(sharing: AddressSharing, joiner: string): string {
  if (sharing !== "consent") return "";
  return `, or add "${namespaceOfKey(joiner)}" to annotation ${OURS.shareAddressWith.key} of that Service`;
}
