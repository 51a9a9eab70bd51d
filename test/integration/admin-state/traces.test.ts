/** A drain and all calls to Azure as spans, as a collector receives them; and nothing of it where no collector is named. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { OtlpReceiver, type ReceivedSpan } from "../../support/otlp-receiver.ts";
import { WITHIN_MS } from "../../support/service-rig.ts";
import { AdminStateRig, DRAIN } from "../../suites/admin-state/admin-state-rig.ts";

const PUT_POOL = "PUT Microsoft.Network/loadBalancers/backendAddressPools";

for (const protocol of ["http/protobuf", "http/json"] as const) {
  describe(`traces over ${protocol}`, () => {
    let receiver: OtlpReceiver;
    let rig: AdminStateRig;
    let first = "";

    before(async () => {
      receiver = await OtlpReceiver.open();
      // the exporter reads the process's own environment
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=blue",
        OTEL_SERVICE_NAME: "azlb-of-the-test",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
        OTEL_BSP_SCHEDULE_DELAY: "50",
      };
      Object.assign(process.env, env);
      rig = await AdminStateRig.open(openEmbeddedCluster, {
        azure: { topology: { nodes: 2 } },
        controller: { env: process.env },
      });
      [first = ""] = rig.nodes;
      await rig.serve();
    });
    after(async () => {
      await rig.close();
      await receiver.close();
    });

    const named = (name: string): readonly ReceivedSpan[] => receiver.spans.filter((span) => span.name === name);
    const childrenOf = ({ spanId }: ReceivedSpan): readonly ReceivedSpan[] =>
      receiver.spans.filter(({ parentSpanId }) => parentSpanId === spanId);
    const received = async (name: string, count: number): Promise<readonly ReceivedSpan[]> => {
      await eventually(() => assert.equal(named(name).length, count, name), WITHIN_MS);
      return named(name);
    };

    test("a drain is a trace: the taint seen, written in each pool, in effect", async () => {
      await rig.taint(first, DRAIN);
      await rig.expect({ [first]: "Down" });
      const [drain = assert.fail()] = await received("drain", 1);
      assert.equal(drain.parentSpanId, "");
      const { "k8s.node.name": node, "azlb.drain.reasons": reasons, "azlb.admin_state": state } = drain.attributes;
      assert.deepEqual({ node, reasons, state }, { node: first, reasons: ["drain"], state: "Down" });
      const pools = childrenOf(drain);
      const places = pools.map(
        ({ attributes }) => `${String(attributes["azlb.load_balancer"])}/${String(attributes["azlb.pool"])}`,
      );
      assert.deepEqual(places.toSorted(), ["kubernetes-internal/kubernetes", "kubernetes/kubernetes"]);
      for (const pool of pools) {
        const [written = assert.fail()] = pool.events;
        assert.equal(written.name, "written");
        const [put = assert.fail(), ...more] = childrenOf(pool).filter(({ name }) => name === PUT_POOL);
        assert.equal(more.length, 0);
        assert.equal(put.attributes["azlb.resource.id"], pool.attributes["azlb.resource.id"]);
        assert.equal(put.attributes["azlb.priority"], "drain");
        assert.equal(put.attributes["http.request.method"], "PUT");
        assert.match(String(put.attributes["http.response.status_code"]), /^20[01]$/);
        assert.deepEqual([put.kind, pool.kind, put.traceId], [3, 1, drain.traceId]);
        // clocks of one process: milliseconds apart where they are rounded
        const slack = 2_000_000n;
        const order = [drain.startNs, pool.startNs, written.atNs, put.endNs, pool.endNs, drain.endNs];
        for (const [at, time] of order.entries()) assert.ok(time + slack >= (order[at - 1] ?? 0n), String(order));
      }
    });

    test("a refused attempt is an error within the same trace", async () => {
      const effect = { kind: "status", status: 500, code: "InternalServerError" };
      await rig.services.azure.control("POST", "/faults", {
        method: ["PUT"],
        path: "**/loadBalancers/kubernetes/backendAddressPools/*",
        count: 1,
        effect,
      });
      await rig.untaint(first, DRAIN);
      await rig.expect({});
      const [undrain = assert.fail()] = await received("undrain", 1);
      const calls = childrenOf(undrain).flatMap((pool) => childrenOf(pool));
      const refused = calls.filter(({ name, status }) => name === PUT_POOL && status === 2);
      assert.deepEqual(
        refused.map(({ attributes }) => [attributes["http.response.status_code"], attributes["error.type"]]),
        [[500, "transient"]],
      );
      assert.equal(undrain.status, 0);
    });

    test("every call to Azure is a span, with what the variables ask for", async () => {
      await rig.services.stop(); // sends what is left
      const audit = (await rig.audit()).filter(({ verb }) => verb !== null);
      const puts = (path: string): number =>
        audit.filter((entry) => entry.verb === "PUT" && entry.path === path).length;
      for (const path of new Set(audit.filter(({ verb }) => verb === "PUT").map((entry) => entry.path))) {
        const spans = receiver.spans.filter(
          ({ attributes }) => attributes["http.request.method"] === "PUT" && attributes["azlb.resource.id"] === path,
        );
        assert.equal(spans.length, puts(path), path);
      }
      for (const { resource, spanId } of receiver.spans) {
        assert.match(spanId, /^[0-9a-f]{16}$/);
        assert.equal(resource["service.name"], "azlb-of-the-test");
        assert.equal(resource["deployment.environment.name"], "test");
      }
      const type = protocol === "http/json" ? "application/json" : "application/x-protobuf";
      for (const { headers } of receiver.requests)
        assert.deepEqual([headers["x-tenant"], headers["content-type"]], ["blue", type]);
      assert.deepEqual(receiver.problems, []);
    });
  });
}
