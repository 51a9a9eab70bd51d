/**
 * What is left on a drained node, and whether it got anything new: told by `azlb drain --wait` and `azlb explain node/NAME` where an
 * emulated data plane knows it. Real connections; where there is no data plane, nobody claims to know.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { SILENT_LOG } from "../../../src/core/util/log.ts";
import { withClusterView } from "../../../src/main/cluster-view.ts";
import { waitForDrain } from "../../../src/main/drain-node.ts";
import { explainNode } from "../../../src/main/explain-node.ts";
import { dataPlaneAt, openConnection, type HeldConnection, visit } from "../../support/data-plane.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { echoBackend } from "../../support/loopback-backends.ts";
import { ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";

async function drain(rig: ServiceRig, name: string): Promise<string> {
  const said: string[] = [];
  const view = { ...rig.viewOptions, log: SILENT_LOG };
  await waitForDrain({
    view,
    name,
    change: { kind: "drain", effect: "NoSchedule" },
    say: (line) => void said.push(line),
  });
  return said.join("\n");
}

const explained = (rig: ServiceRig, name: string) =>
  withClusterView({ ...rig.viewOptions, log: SILENT_LOG }, (view) => explainNode(view, name));

/** Connections to that backend, however many others it takes. */
async function holdTwo(port: number, backend: string): Promise<readonly HeldConnection[]> {
  const held: HeldConnection[] = [];
  while (held.length < 2) {
    const connection = await openConnection(port);
    if (connection.backend === backend) held.push(connection);
    else await connection.finish();
  }
  return held;
}

describe("connections of a drained node", () => {
  test("are told with the data plane: none begun while Down, and those that are left", async () => {
    const rig = await ServiceRig.open(openEmbeddedCluster, { azure: { topology: { nodes: 2 }, dataPlane: true } });
    const backends = await Promise.all(rig.azure.nodes.map(({ name }) => echoBackend(name)));
    try {
      const [drained = assert.fail(), other = assert.fail()] = rig.azure.nodes;
      const plane = dataPlaneAt(rig.azure.controlUrl);
      await plane.map(Object.fromEntries(rig.azure.nodes.map(({ ip }, at) => [ip, { "*": backends[at]?.port }])));
      await rig.apply({ name: "web" });
      const [address = ""] = await rig.served("web");
      const { listener } = await plane.eligible(address, 80, [drained.ip, other.ip]);
      const held = await holdTwo(listener.port, drained.name);
      assert.match(await drain(rig, drained.name), /2 existing ones are left \(by the emulator's data plane\)\.$/);
      await plane.eligible(address, 80, [other.ip]);
      for (let count = 0; count < 10; count++) assert.equal(await visit(listener.port), other.name);
      await held[0]?.finish();
      await eventually(async () => {
        const { text, data } = await explained(rig, drained.name);
        assert.match(text, /^connections 0 begun while it was Down; left of earlier ones: 1 /m);
        assert.deepEqual((data as { connections?: unknown }).connections, { open: 1, openedWhileDown: 0 });
      }, WITHIN_MS);
      await held[1]?.finish();
    } finally {
      await rig.close();
      for (const backend of backends) await backend.close();
    }
  });

  test("are not known without it", async () => {
    const rig = await ServiceRig.open(openEmbeddedCluster, { azure: { topology: { nodes: 2 } } });
    try {
      const [node = assert.fail()] = rig.azure.nodes;
      await rig.apply({ name: "web" });
      await rig.served("web");
      assert.match(await drain(rig, node.name), /Azure does not tell how many existing ones are left\.$/);
      assert.doesNotMatch((await explained(rig, node.name)).text, /^connections/m);
    } finally {
      await rig.close();
    }
  });
});
