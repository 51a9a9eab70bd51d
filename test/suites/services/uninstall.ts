/** The controller is taken out of a cluster: no Service hangs, and Azure is left as it is, or without what Services had there. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { FINALIZER } from "../../../src/core/intent/ownership.ts";
import { APPLIED_ANNOTATION } from "../../../src/core/service/applied-state.ts";
import { CONFIG_MAPS, LEASES } from "../../../src/kube/client/resources.ts";
import { runAzlb } from "../../support/azlb-process.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { FaultControl } from "../../support/fault-control.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";

const LEASE = { namespace: "kube-system", name: "azlb-controller" };

export function uninstallSuite(name: string, open: ClusterOpener): void {
  describe(`uninstalling, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open);
      await rig.apply({ name: "web" });
      await rig.served("web");
      await rig.stop();
    });
    after(() => rig.close());

    test("is refused in one line while the controller holds its Lease", async () => {
      const now = new Date().toISOString().replace("Z", "000Z");
      const spec = { holderIdentity: "a", leaseDurationSeconds: 3_600, acquireTime: now, renewTime: now };
      await rig.kube.create(LEASES, { metadata: LEASE, spec });
      const { code, stderr } = await run(rig);
      assert.equal(code, 1);
      assert.match(stderr, /^azlb: the controller runs: "a" holds the Lease kube-system\/azlb-controller\. [^\n]*\n$/);
      assert.ok((await rig.service("web")).metadata.finalizers?.includes(FINALIZER));
      await rig.kube.delete(LEASES, LEASE);
    });

    test("keeps addresses: Azure and the status stay, what the controller wrote into the cluster goes", async () => {
      const inAzure = await rig.everything();
      const { status } = await rig.service("web");
      const { code, stdout, stderr } = await run(rig);
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, /^Released: 1 Service\. .* deleted: 1 member list\.$/m);
      const { metadata, status: afterwards } = await rig.service("web");
      assert.deepEqual([metadata.finalizers ?? [], metadata.annotations?.[APPLIED_ANNOTATION]], [[], undefined]);
      assert.deepEqual(afterwards, status);
      const { items } = await rig.kube.list(CONFIG_MAPS, { namespace: "kube-system" });
      assert.deepEqual(
        items.filter((each) => each.metadata.name.startsWith("azlb-")),
        [],
      );
      await rig.delete("web");
      assert.deepEqual(await rig.everything(), inAzure);
    });
  });

  describe(`removing everything, on ${name}`, () => {
    const names = ["web", "inside", "first", "second", "dual", "named"];
    let rig: ServiceRig;
    let initial: unknown;
    before(async () => {
      rig = await ServiceRig.open(open, {
        ipv6: true,
        prepare: async (opened) => {
          await opened.put("publicIPAddresses/mine", MINE);
          initial = await opened.everything();
        },
      });
      await serveAll(rig);
    });
    after(() => rig.close());

    function remove(...flags: readonly string[]): ReturnType<typeof runAzlb> {
      return run(rig, "--remove", `--cloud-config=${rig.azure.cloudConfigFile}`, ...flags);
    }

    test("is refused in one line while a controller holds its Lease, and under another cluster name", async () => {
      await rig.stop();
      const now = new Date().toISOString().replace("Z", "000Z");
      const spec = { holderIdentity: "a", leaseDurationSeconds: 3_600, acquireTime: now, renewTime: now };
      await rig.kube.create(LEASES, { metadata: LEASE, spec });
      const before = await rig.everything();
      const held = await remove();
      assert.deepEqual([held.code, held.stdout], [1, ""]);
      assert.match(held.stderr, /^azlb: the controller runs: "a" holds the Lease [^\n]*\n$/);
      await rig.kube.delete(LEASES, LEASE);
      const renamed = await remove("--cluster-name=prod");
      assert.deepEqual([renamed.code, renamed.stdout], [1, ""]);
      assert.match(renamed.stderr, /^azlb: the cluster name is "prod", but 6 published Services [^\n]*\n$/);
      assert.deepEqual(await rig.everything(), before);
    });

    test("--dry-run says what would go, and writes nothing", async () => {
      const before = await rig.everything();
      const { code, stdout, stderr } = await remove("--dry-run");
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(
        stdout,
        /^- default\/web +goes, no longer at [\d.]+: delete load balancer, public IP; update security group$/m,
      );
      assert.match(
        stdout,
        /^2 load balancers and 4 public IPs to delete, 1 security group to change, 0 addresses change/m,
      );
      assert.deepEqual(await rig.everything(), before);
      for (const each of names) assert.ok((await rig.service(each)).metadata.finalizers?.includes(FINALIZER));
    });

    test("Azure is as it was before the first Service, the user's public IP included; no Service hangs", async () => {
      const { code, stdout, stderr } = await remove();
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, /^Removed from Azure: what 6 Services had there\.\n/);
      assert.deepEqual(await rig.everything(), initial);
      await isClean(rig, names);
      const again = await remove();
      assert.deepEqual(
        [again.code, again.stdout],
        [0, "Removed from Azure: what 0 Services had there.\n"],
        again.stderr,
      );
    });

    test("interrupted by Azure it says what is left, and goes on when it is run again; others' parts stay", async () => {
      await rig.start();
      await serveAll(rig);
      await rig.stop();
      const foreign = await addForeign(rig);
      const faults = new FaultControl(rig.azure.controlUrl);
      const effect = { kind: "status", status: 403, code: "AuthorizationFailed" };
      await faults.arm({ method: ["DELETE"], path: "**/publicIPAddresses/**", count: null, effect });
      const refused = await remove();
      assert.equal(refused.code, 1);
      assert.match(refused.stdout, /^not removed: default\/web: .*AuthorizationFailed/m);
      assert.match(refused.stdout, /Run the command again/);
      assert.ok((await rig.service("web")).metadata.finalizers?.includes(FINALIZER));
      assert.deepEqual((await rig.service("inside")).metadata.finalizers ?? [], [], "what could go has gone");
      await faults.clear();
      const { code, stdout, stderr } = await remove();
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, /^stays: load balancer "kubernetes"/m);
      const [left] = await rig.list("loadBalancers");
      const { frontendIPConfigurations, loadBalancingRules, inboundNatRules } = propertiesOf(left);
      assert.deepEqual(namesIn(frontendIPConfigurations), ["office"]);
      assert.deepEqual([namesIn(loadBalancingRules), namesIn(inboundNatRules)], [[], ["ssh"]]);
      assert.deepEqual(await rig.list("publicIPAddresses").then((all) => all.map((one) => one.name).sort()), foreign);
      await isClean(rig, names);
      for (const each of names) await rig.delete(each);
    });
  });

  for (const [shape, settings] of Object.entries(SHAPES)) {
    describe(`giving back and removing ${shape}, on ${name}`, () => {
      const external = ["a", "b", "c", "d", "local"];
      const internal = ["in-a", "in-b", "in-c"];
      const names = [...external, ...internal];
      let rig: ServiceRig;
      let initial: unknown;
      before(async () => {
        const prepare = async (opened: ServiceRig): Promise<void> => void (initial = await opened.everything());
        rig = await ServiceRig.open(open, { ...settings, prepare });
        for (const each of external)
          await rig.apply({ name: each, spec: each === "local" ? { externalTrafficPolicy: "Local" } : {} });
        for (const each of internal)
          await rig.apply({ name: each, annotations: { "azure-load-balancer-internal": "true" } });
        for (const each of names) await rig.served(each);
        await eventually(async () => assert.deepEqual((await rig.plan()).steps, []), WITHIN_MS);
      });
      after(() => rig.close());

      test("a controller that leaves writes nothing, nor does the one that comes back", async () => {
        const served = await rig.everything();
        assert.ok((await rig.list("loadBalancers")).length > 2, "there are several");
        await rig.stop();
        assert.deepEqual(await rig.everything(), served);
        await rig.start();
        await rig.apply({ name: "witness", annotations: { "azure-load-balancer-internal": "yes" } });
        await eventually(async () => assert.ok(await rig.warned("witness", "InvalidAnnotation")), WITHIN_MS);
        await rig.delete("witness");
        await rig.stop();
        assert.deepEqual(await rig.everything(), served);
      });

      test("--remove leaves Azure as it was before the first Service", async () => {
        const { code, stdout, stderr } = await run(rig, "--remove", `--cloud-config=${rig.azure.cloudConfigFile}`);
        assert.deepEqual([code, stderr], [0, ""]);
        assert.match(stdout, new RegExp(`^Removed from Azure: what ${names.length} Services had there\\.\n`));
        assert.deepEqual(await rig.everything(), initial);
        await isClean(rig, names);
      });
    });
  }
}

/** Ways to have more than one load balancer of a kind. */
const SHAPES: Readonly<Record<string, Parameters<typeof ServiceRig.open>[1]>> = {
  "a fleet": {
    azure: { model: { limits: { frontendsPerLoadBalancer: 2 } } },
    cloudConfig: { loadBalancerFleet: { max: 4 }, loadBalancerLimits: "frontends=2" },
  },
  "several load balancers": {
    cloudConfig: {
      multipleStandardLoadBalancerConfigurations: [
        { name: "kubernetes", primaryVMSet: "vmss" },
        { name: "lb2", primaryVMSet: "vmss2" },
      ],
    },
  },
};

const MINE = {
  location: "westus2",
  sku: { name: "Standard" },
  properties: { publicIPAllocationMethod: "Static", publicIPAddressVersion: "IPv4" },
};

/** External, internal, two that share an address, dual stack, and one at a public IP of the user. */
async function serveAll(rig: ServiceRig): Promise<void> {
  await rig.apply({ name: "web" });
  await rig.apply({ name: "inside", annotations: { "azure-load-balancer-internal": "true" } });
  await rig.apply({ name: "first" });
  await rig.apply({ name: "dual", spec: { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv4", "IPv6"] } });
  await rig.apply({ name: "named", annotations: { "azure-pip-name": "mine" } });
  const [shared = ""] = await rig.served("first");
  await rig.apply({
    name: "second",
    annotations: { "azure-load-balancer-ipv4": shared },
    spec: { ports: [{ port: 443 }] },
  });
  for (const each of ["web", "inside", "second", "dual", "named"]) await rig.served(each);
}

/** Another user's frontend on the cluster's load balancer, with its NAT rule. Resolves with the public IPs that are no Service's. */
async function addForeign(rig: ServiceRig): Promise<string[]> {
  await rig.put("publicIPAddresses/office", MINE);
  const seen = (await rig.list("loadBalancers")).find((each) => each.name === "kubernetes");
  const frontends = propertiesOf(seen)["frontendIPConfigurations"] as readonly unknown[];
  const office = {
    name: "office",
    properties: { publicIPAddress: { id: rig.networkPath("publicIPAddresses/office") } },
  };
  const frontend = { id: rig.networkPath("loadBalancers/kubernetes/frontendIPConfigurations/office") };
  const ssh = {
    name: "ssh",
    properties: { frontendIPConfiguration: frontend, protocol: "Tcp", frontendPort: 2222, backendPort: 22 },
  };
  const properties = {
    ...propertiesOf(seen),
    frontendIPConfigurations: [...frontends, office],
    inboundNatRules: [ssh],
  };
  await rig.put("loadBalancers/kubernetes", { ...seen, properties });
  return ["mine", "office"];
}

function namesIn(list: unknown): string[] {
  return ((list ?? []) as readonly { readonly name: string }[]).map((one) => one.name);
}

/** Nothing of the controller is left in the cluster, and the Services say that they are not served. */
async function isClean(rig: ServiceRig, names: readonly string[]): Promise<void> {
  for (const each of names) {
    const { metadata, status } = await rig.service(each);
    assert.deepEqual([metadata.finalizers ?? [], metadata.annotations?.[APPLIED_ANNOTATION]], [[], undefined], each);
    assert.deepEqual(status.loadBalancer.ingress ?? [], [], each);
  }
  const { items } = await rig.kube.list(CONFIG_MAPS, { namespace: "kube-system" });
  assert.deepEqual(
    items.filter((each) => each.metadata.name.startsWith("azlb-")),
    [],
  );
}

function run({ cluster }: ServiceRig, ...flags: readonly string[]): ReturnType<typeof runAzlb> {
  return runAzlb(
    "uninstall",
    `--kubeconfig=${cluster.kubeconfig}`,
    ...(flags.length > 0 ? flags : ["--keep-addresses"]),
  );
}
