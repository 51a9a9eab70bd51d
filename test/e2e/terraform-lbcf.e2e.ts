/**
 * A pool that OpenTofu made, and pods that LBCF binds to it, as docs/guides/bind-pods-to-a-pool.md says: while they come and go,
 * `tofu plan` stays empty. Runs where `npm run build-tofu` has filled the cache.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, suite, test } from "node:test";

import { parseAllDocuments } from "yaml";

import { SILENT_LOG } from "../../src/core/util/log.ts";
import { type RunningSandbox, startSandbox } from "../../src/main/sandbox.ts";
import { eventually } from "../support/eventually.ts";
import { connect, type KubeConnection } from "../support/kube-connection.ts";
import { openTofuFolder, ONE_BY_ONE, type TofuFolder } from "../support/tofu-run.ts";
import { tofuPrograms } from "../support/tofu.ts";

const GUIDE = readFileSync(resolve(import.meta.dirname, "../../docs/guides/bind-pods-to-a-pool.md"), "utf8");
const POOL = /```hcl\n(.*?)```/s.exec(GUIDE)?.[1] ?? "";
const BINDING = /```yaml\n(.*?)```/s.exec(GUIDE)?.[1] ?? "";
const AROUND = `
terraform {
  required_providers {
    azurerm = { source = "hashicorp/azurerm" }
  }
}

provider "azurerm" {
  features {}
  resource_provider_registrations = "none"
}

data "azurerm_virtual_network" "this" {
  name                = "vnet"
  resource_group_name = "rg"
}

resource "azurerm_lb" "shop" {
  name                = "shop"
  resource_group_name = "rg"
  location            = "westus2"
  sku                 = "Standard"

  frontend_ip_configuration {
    name      = "inside"
    subnet_id = "\${data.azurerm_virtual_network.this.id}/subnets/subnet"
  }
}
`;
const WITHIN_MS = 120_000;
const LBCF = "/apis/lbcf.tkestack.io/v1beta1/namespaces/default";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

const programs = tofuPrograms();
const skip = programs === undefined ? "no OpenTofu in the cache: `npm run build-tofu` builds it" : false;

suite("Terraform and LBCF", { skip }, () => {
  let sandbox: RunningSandbox;
  let kube: KubeConnection;
  let tofu: TofuFolder;
  before(async () => {
    sandbox = await startSandbox({ azure: { latency: 0.1 }, withController: true, log: SILENT_LOG });
    kube = connect(sandbox.kubeconfig);
    tofu = openTofuFolder(programs ?? "", sandbox.azure);
    writeFileSync(join(tofu.folder, "main.tf"), `${AROUND}\n${POOL}`);
  });
  after(async () => {
    await kube.close();
    await sandbox.close();
    tofu.remove();
  });

  const planIsEmpty = async (): Promise<void> => {
    const { code, text } = await tofu.run("plan", "-detailed-exitcode");
    assert.equal(code, 0, text);
  };
  const send = async (method: string, path: string, body?: unknown): Promise<void> => {
    const reply = await kube.request(method, path, body === undefined ? {} : { body });
    assert.ok(reply.code < 300, reply.text);
  };
  const poolHas = (count: number): Promise<void> =>
    eventually(async () => {
      const state = (await (await fetch(`${sandbox.azure.controlUrl}/state`)).json()) as {
        resources: { id: string; body: { properties: { backendAddressPools?: { properties: object }[] } } }[];
      };
      const balancer = state.resources.find(({ id }) => id.endsWith("/loadBalancers/shop"));
      const [pool] = balancer?.body.properties.backendAddressPools ?? [];
      const { loadBalancerBackendAddresses: entries = [] } = (pool?.properties ?? {}) as {
        loadBalancerBackendAddresses?: unknown[];
      };
      assert.equal(entries.length, count);
    }, WITHIN_MS);

  test("the pool is applied", async () => {
    const { code, text } = await tofu.run("apply", "-auto-approve", ONE_BY_ONE);
    assert.equal(code, 0, text);
    await planIsEmpty();
  });

  test("pods of a Deployment join it, and the plan stays empty", async () => {
    for (const document of parseAllDocuments(BINDING)) {
      const object = document.toJS() as { kind: string };
      await send("POST", `${LBCF}/${object.kind.toLowerCase()}s`, object);
    }
    const labels = { app: "web" };
    const containers = [{ name: "web", image: "web:1", ports: [{ containerPort: 8080 }] }];
    const template = { metadata: { labels }, spec: { containers } };
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    await send("POST", DEPLOYMENTS, { metadata: { name: "web" }, spec });
    await poolHas(2);
    await planIsEmpty();
  });

  test("they leave it, the plan stays empty, and all is destroyed", async () => {
    await send("DELETE", `${DEPLOYMENTS}/web`);
    await poolHas(0);
    await planIsEmpty();
    for (const path of ["backendgroups/web", "loadbalancers/shop"]) await send("DELETE", `${LBCF}/${path}`);
    await eventually(
      async () => assert.equal((await kube.request("GET", `${LBCF}/loadbalancers/shop`)).code, 404),
      WITHIN_MS,
    );
    const { code, text } = await tofu.run("destroy", "-auto-approve", ONE_BY_ONE);
    assert.equal(code, 0, text);
  });
});
