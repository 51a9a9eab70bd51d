/**
 * The incumbent's own program as the judge: it serves a cluster while the shadow predicts each of its changes; azlb takes over
 * and writes nothing; it is given back what it had, and then what azlb has made, and its first sync writes no more than on its own
 * state; in the end it deletes Services that azlb made, and nothing is left. Where the program is missing the recorded states stand in
 * (`shadow.ts`, `take-over.ts`), and the suite says that it tested nothing.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { AzureOptions } from "../../../sandbox/azure/index.ts";
import { findingText } from "../../../src/core/shadow/render-shadow.ts";
import type { ScoredChange } from "../../../src/core/shadow/shadow-report.ts";
import { NODES, SERVICES } from "../../../src/kube/client/resources.ts";
import { ensureNodes } from "../../../src/main/sandbox-nodes.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { findProgram } from "../../support/find-program.ts";
import { type Expected, IncumbentProgram } from "../../support/incumbent-program.ts";
import { ServiceRig } from "../../support/service-rig.ts";
import { ShadowRig } from "../../support/shadow-rig.ts";
import { assertAgreement } from "./shadow.ts";
import { isTakenOver, writesToAzure } from "./take-over.ts";

const NAME = "cloud-controller-manager";
export const PROGRAM = findProgram(NAME) ?? "";
export const WITHOUT_PROGRAM = PROGRAM === "" ? `no ${NAME} here: nothing was tested` : false;

type Shape = NonNullable<AzureOptions["topology"]>;

/** Each type of machine with each type of pool. */
const SHAPES: readonly Shape[] = (["vmss", "vmssflex", "standard"] as const).flatMap((vmType) =>
  (["nodeIP", "nodeIPConfiguration"] as const).map((backendPool) => ({ vmType, backendPool })),
);

interface Change {
  readonly what: string;
  readonly until: Expected;
  readonly act: (rig: ServiceRig) => Promise<unknown>;
  /** The known differences that must be found. */
  readonly known?: readonly string[];
}

const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";
const INTERNAL = "azure-load-balancer-internal";

const CHANGES: readonly Change[] = [
  created("web", { spec: { ports: [port(80), port(443)] } }),
  created("db", { annotations: { [INTERNAL]: "true" }, spec: { ports: [port(5432)] } }),
  created("dns", { spec: { ports: [{ ...port(53), protocol: "UDP" }], loadBalancerSourceRanges: ["203.0.113.0/24"] } }),
  created("local", { spec: { externalTrafficPolicy: "Local" } }),
  changed("web", "another port", (rig) => rig.patch("web", { spec: { ports: [port(80), port(8443)] } })),
  changed("web", "an idle timeout", (rig) => rig.annotate("web", { "azure-load-balancer-tcp-idle-timeout": "15" })),
  changed("dns", "other source ranges", (rig) =>
    rig.patch("dns", { spec: { loadBalancerSourceRanges: ["198.51.100.0/24"] } }),
  ),
  changed("db", "from internal to external", (rig) => rig.annotate("db", { [INTERNAL]: null })),
  {
    ...changed("db", "back again", (rig) => rig.annotate("db", { [INTERNAL]: "true" })),
    known: ["external-to-internal-leaves-rule"],
  },
  // it removes the rule that it has just left
  { what: "a node is left out", until: "nodes", act: (rig) => label(rig, "true"), known: ["addresses-of-others"] },
  { what: "a node is taken in again", until: "nodes", act: (rig) => label(rig, null) },
  changed("local", "no longer Local", (rig) => rig.patch("local", { spec: { externalTrafficPolicy: "Cluster" } })),
  changed("dns", "no LoadBalancer any more", (rig) =>
    rig.patch("dns", { spec: { type: "ClusterIP", loadBalancerSourceRanges: null } }),
  ),
  { what: "web is deleted", until: { gone: "web" }, act: (rig) => remove(rig, "web") },
  created("web", { annotations: { "azure-dns-label-name": "web-again" } }),
  { what: "a Node is deleted", until: "nodes", act: (rig) => rig.kube.delete(NODES, { name: nodeName(rig) }) },
  { what: "the Node comes back", until: "nodes", act: (rig) => ensureNodes(rig.kube, [nodeOf(rig)]) },
];

export function incumbentProgramSuite(name: string, open: ClusterOpener, shapes: readonly Shape[] = SHAPES): void {
  describe(`the incumbent's own program, on ${name}`, { skip: WITHOUT_PROGRAM }, () => {
    for (const shape of shapes) shapeSuite(`${shape.vmType}, ${shape.backendPool}`, open, shape);
  });
}

function shapeSuite(name: string, open: ClusterOpener, shape: Shape): void {
  describe(name, () => {
    let rig: ServiceRig;
    let incumbent: IncumbentProgram;
    let seed: unknown;
    /** What it writes when it starts on its own state: the security group as it is, once for each Service. */
    let ofItself: readonly string[] = [];

    before(async () => {
      rig = await ServiceRig.open(open, { azure: { topology: { nodes: 4, ...shape } } });
      await rig.stop();
      seed = await rig.everything();
      incumbent = new IncumbentProgram(PROGRAM, rig);
      await incumbent.start();
    });
    after(async () => {
      await incumbent.stop();
      await rig.close();
    });

    test("the shadow predicts each of its changes, known differences apart", async (context) => {
      const shadow = await ShadowRig.open(rig);
      try {
        for (const { what, until, act, known = [] } of CHANGES) {
          const done = await incumbent.during(until, () => act(rig));
          await shadow.predict();
          await done();
          const scores = await shadow.scored();
          context.diagnostic(`${what}: ${scores.map(textOf).join("; ") || "nothing to write"}`);
          assertAgreement(scores, known);
        }
      } finally {
        await shadow.close();
      }
    });

    test("started again on its own state, it changes nothing", async () => {
      await incumbent.stop();
      const left = await rig.everything();
      ofItself = await writesDuring(() => incumbent.start());
      await incumbent.stop();
      assert.deepEqual(await rig.everything(), left);
    });

    test("azlb takes over without a write, and leaves without one", async () => {
      const left = await rig.everything();
      assert.deepEqual((await rig.plan()).steps, []);
      const written = await writesDuring(async () => {
        await rig.start();
        for (const service of await incumbent.services()) await isTakenOver(rig, service, undefined);
        await rig.stop();
      });
      assert.deepEqual(written, []);
      assert.deepEqual(await rig.everything(), left);
    });

    test("given back, its first sync writes no more than on its own state", async () => {
      const left = await rig.everything();
      assert.deepEqual(await writesDuring(() => incumbent.start()), ofItself);
      await incumbent.stop();
      assert.deepEqual(await rig.everything(), left);
    });

    test("nor does it after azlb has made, changed and deleted Services", async () => {
      await rig.start();
      await rig.apply({ name: "ours", spec: { ports: [port(80), port(81)] } });
      await rig.apply({ name: "ours-internal", annotations: { [INTERNAL]: "true" } });
      await rig.patch("web", { spec: { ports: [port(80), port(9443)] } });
      await rig.delete("local");
      for (const service of await incumbent.services()) await rig.served(service);
      await rig.stop();
      const left = await rig.everything();
      const first = await writesDuring(() => incumbent.start());
      assert.deepEqual(await rig.everything(), left);
      await incumbent.stop();
      assert.deepEqual(first, await writesDuring(() => incumbent.start()), "its second start is on its own state");
      assert.deepEqual(await rig.everything(), left);
    });

    test("it changes and deletes what azlb has made, and nothing is left", async () => {
      const changed = await incumbent.during({ service: "ours" }, () =>
        rig.patch("ours", { spec: { ports: [port(80)] } }),
      );
      await changed();
      assert.deepEqual((await rig.plan()).steps, []);
      for (const service of await incumbent.services()) {
        const gone = await incumbent.during({ gone: service }, () => remove(rig, service));
        await gone();
      }
      assert.deepEqual(withoutModels(await rig.everything()), withoutModels(seed));
    });

    async function writesDuring(act: () => Promise<void>): Promise<string[]> {
      await rig.azure.control("DELETE", "/audit");
      await act();
      return writesToAzure(rig);
    }
  });
}

function port(number: number): { readonly name: string; readonly port: number } {
  return { name: `p${number}`, port: number };
}

function created(name: string, manifest: Omit<Parameters<ServiceRig["apply"]>[0], "name">): Change {
  return { what: `${name} is created`, until: { service: name }, act: (rig) => rig.apply({ name, ...manifest }) };
}

function changed(service: string, what: string, act: Change["act"]): Change {
  return { what: `${service}: ${what}`, until: { service }, act };
}

function remove(rig: ServiceRig, name: string): Promise<unknown> {
  return rig.kube.delete(SERVICES, { namespace: "default", name });
}

function nodeOf(rig: ServiceRig): Parameters<typeof ensureNodes>[1][number] {
  const [node] = rig.azure.nodes;
  assert.ok(node !== undefined);
  return { name: node.name, internalIPs: [node.ip], providerID: node.providerId };
}

function nodeName(rig: ServiceRig): string {
  return nodeOf(rig).name;
}

async function label(rig: ServiceRig, value: string | null): Promise<unknown> {
  return rig.kube.patch(NODES, { name: nodeName(rig) }, { merge: { metadata: { labels: { [EXCLUDE]: value } } } });
}

/** It writes the model of a scale set with its network alone, which the emulator takes for the whole. */
function withoutModels(everything: unknown): unknown {
  const isModel = (id: string): boolean => /\/virtualMachineScaleSets\/[^/]+$/i.test(id);
  return Object.fromEntries(Object.entries(everything as object).filter(([id]) => !isModel(id)));
}

function textOf({ verdict, findings }: ScoredChange): string {
  return [verdict, ...findings.map((finding) => findingText(finding, "rg"))].join(", ");
}
