/**
 * The connections of a private endpoint. One to a private link service of the emulator is stored there, as the service's
 * owner sees and decides it, and the endpoint shows it; one to any other service is approved at once.
 */
import type { Change } from "../../changes.ts";
import { invalid } from "../../errors.ts";
import { derivedGuid } from "../../guid.ts";
import { keyOf, nameOf } from "../../ids.ts";
import { objectOf, objectsOf, propertiesOf, sameJson, stringOf, type Json } from "../../json.ts";
import { childrenOf, follow } from "../../lookups.ts";
import { checkName } from "../../names.ts";
import type { PutInput } from "../../resource-type.ts";
import type { State } from "../../state.ts";
import { storedChild, writtenProperties } from "../fields.ts";
import { itemsOf } from "../load-balancer/draft.ts";

/** Automatic ones are approved for those who may write the service; manual ones wait for its owner. */
export const CONNECTIONS = ["privateLinkServiceConnections", "manualPrivateLinkServiceConnections"] as const;

const STATE = "privateLinkServiceConnectionState";
const APPROVED = { status: "Approved", description: "Auto-approved", actionsRequired: "None" };
const PENDING = { status: "Pending", description: "Awaiting approval", actionsRequired: "None" };

export function connectionForms(input: PutInput, properties: Json): Json {
  const forms = CONNECTIONS.map((collection) => [
    collection,
    itemsOf(properties[collection], `properties.${collection}`).map((item) => connectionForm(input, collection, item)),
  ]);
  const count = forms.reduce((sum, [, items]) => sum + (items as Json[]).length, 0);
  if (count !== 1) {
    throw invalid(
      "PrivateEndpointMustHaveOnePrivateLinkServiceConnection",
      `Private endpoint ${input.id} has ${count} private link service connections. It must have exactly one.`,
    );
  }
  return Object.fromEntries(forms) as Json;
}

function connectionForm(input: PutInput, collection: string, item: Json): Json {
  const name = stringOf(item["name"]) ?? "";
  checkName("network", name);
  const properties = writtenProperties(item, new Set([STATE]));
  const id = stringOf(properties["privateLinkServiceId"]) ?? "";
  const service = isService(id)
    ? follow(input.state, { id }, { ...RULE, owner: input.id, location: input.location })
    : undefined;
  return storedChild(name, item, {
    groupIds: [],
    ...properties,
    privateLinkServiceId: service?.id ?? id,
    ...(collection === CONNECTIONS[1] && { requestMessage: stringOf(properties["requestMessage"]) ?? "" }),
  });
}

const RULE = { path: "properties.privateLinkServiceConnections[].properties.privateLinkServiceId" };

function isService(id: string): boolean {
  return /\/providers\/Microsoft\.Network\/privateLinkServices\/[^/]+$/i.test(id);
}

/** Key of the private link service that the endpoint is connected to; undefined for services that the emulator has not. */
export function serviceKeyOf(body: Json): string | undefined {
  const [connection] = CONNECTIONS.flatMap((collection) => objectsOf(propertiesOf(body)[collection]));
  const id = stringOf(propertiesOf(connection ?? {})["privateLinkServiceId"]) ?? "";
  return isService(id) ? keyOf(id) : undefined;
}

/** The connection as the service stores it; no change where it is there already. */
export function atService(input: PutInput, body: Json): Change[] {
  const key = serviceKeyOf(body);
  const service = key === undefined ? undefined : input.state.resources.get(key);
  if (key === undefined || service === undefined || connectionAt(input.state, key, input.id) !== undefined) return [];
  const isManual = objectsOf(propertiesOf(body)[CONNECTIONS[1]]).length > 0;
  const name = `${nameOf(input.id)}.${derivedGuid(`connection|${input.key}|${input.sequence}`)}`;
  const child = {
    name,
    properties: {
      linkIdentifier: String(Number.parseInt(derivedGuid(`${key}|${name}`).slice(0, 7), 16)),
      privateEndpointLocation: input.location,
      privateEndpoint: { id: input.id },
      [STATE]: isManual ? PENDING : APPROVED,
    },
  };
  const { state, provisioned, lastOperation } = service;
  return [
    {
      kind: "child",
      key,
      collection: "privateEndpointConnections",
      name,
      child,
      mark: { state, provisioned, lastOperation },
    },
  ];
}

function connectionAt(state: State, serviceKey: string, endpointId: string): Json | undefined {
  const connections = childrenOf(state.resources.get(serviceKey)?.body ?? {}, "privateEndpointConnections").values();
  const isOurs = (item: Json): boolean =>
    keyOf(stringOf(objectOf(propertiesOf(item)["privateEndpoint"])["id"]) ?? "") === keyOf(endpointId);
  return [...connections].find(isOurs);
}

/** What the endpoint shows: the service's decision, or `Disconnected` once the service has removed the connection. */
export function connectionState(state: State, endpointId: string, body: Json): Json {
  const key = serviceKeyOf(body);
  if (key === undefined) return APPROVED;
  const connection = connectionAt(state, key, endpointId);
  if (connection === undefined) return { status: "Disconnected", description: "", actionsRequired: "None" };
  return objectOf(propertiesOf(connection)[STATE]);
}

/** Endpoints show what their service decided: those whose connection changes get a new revision. */
export function touchedEndpoints(state: State, before: Json, after: Json): Change[] {
  const later = childrenOf(after, "privateEndpointConnections");
  return [...childrenOf(before, "privateEndpointConnections")].flatMap(([name, connection]): Change[] => {
    const key = keyOf(stringOf(objectOf(propertiesOf(connection)["privateEndpoint"])["id"]) ?? "");
    const endpoint = state.resources.get(key);
    if (!endpoint || sameJson(connection, later.get(name))) return [];
    const { state: shown, provisioned, lastOperation } = endpoint;
    return [{ kind: "mark", key, mark: { state: shown, provisioned, lastOperation } }];
  });
}

/** A service's body without the connection of an endpoint that is gone. */
export function withoutConnection(service: Json, endpointId: string): Json {
  const properties = propertiesOf(service);
  const all = objectsOf(properties["privateEndpointConnections"]);
  const left = all.filter((item) => stringOf(objectOf(propertiesOf(item)["privateEndpoint"])["id"]) !== endpointId);
  return left.length === all.length
    ? service
    : { ...service, properties: { ...properties, privateEndpointConnections: left } };
}
