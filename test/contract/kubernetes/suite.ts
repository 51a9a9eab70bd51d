/**
 * What we rely on in a Kubernetes API server, as one suite: the embedded server and a real kube-apiserver must
 * both keep it, assertion for assertion. Written against the real one; where they differ the embedded is wrong.
 */
import { after, before, describe } from "node:test";

import type { Cluster, ClusterOpener } from "../../support/clusters.ts";
import { type Api, speak } from "./api.ts";
import { objects } from "./objects.ts";

/** A part of the contract: declares its tests; `api` may be called once they run. */
export type Part = (api: Api) => void;

const PARTS: Readonly<Record<string, Part>> = {
  objects,
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
