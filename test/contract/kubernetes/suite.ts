/**
 * What we rely on in a Kubernetes API server, as one suite: the embedded server and a real kube-apiserver must
 * both keep it, assertion for assertion. Written against the real one; where they differ the embedded is wrong.
 */
import { after, before, describe } from "node:test";

import type { Cluster, ClusterOpener } from "../../support/cluster.ts";
import { access } from "./access.ts";
import { type Api, speak } from "./api.ts";
import { apply } from "./apply.ts";
import { customResources } from "./custom-resources.ts";
import { deletion } from "./deletion.ts";
import { discovery } from "./discovery.ts";
import { endpointSlices } from "./endpoint-slices.ts";
import { events } from "./events.ts";
import { history } from "./history.ts";
import { leases } from "./leases.ts";
import { lists } from "./lists.ts";
import { nodes } from "./nodes.ts";
import { objects } from "./objects.ts";
import { patches } from "./patches.ts";
import { serviceRefusals } from "./service-refusals.ts";
import { services } from "./services.ts";
import { status } from "./status.ts";
import { storedKinds } from "./stored-kinds.ts";
import { tables } from "./tables.ts";
import { watches } from "./watches.ts";
import { workloads } from "./workloads.ts";

/** A part of the contract: declares its tests; `api` may be called once they run. */
type Part = (api: Api) => void;

const PARTS: Readonly<Record<string, Part>> = {
  discovery,
  objects,
  patches,
  apply,
  deletion,
  services,
  "service refusals": serviceRefusals,
  status,
  "custom resources": customResources,
  "stored kinds": storedKinds,
  workloads,
  access,
  nodes,
  "endpoint slices": endpointSlices,
  leases,
  events,
  lists,
  watches,
  tables,
  history, // last: it makes the others' versions expire
};

export function kubernetesContract(name: string, open: ClusterOpener): void {
  describe(`Kubernetes API on ${name}`, () => {
    let cluster: Cluster;
    before(async () => void (cluster = await open()));
    after(() => cluster?.close());
    const api = speak(() => cluster);
    for (const [part, declare] of Object.entries(PARTS)) describe(part, () => declare(api));
  });
}
