/** The durable member list on an embedded API server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { embeddedKube } from "../../../test/support/embedded-kube.ts";
import type { LoadBalancer } from "../../core/model/arm.ts";
import { CONFIG_MAPS } from "../../kube/client/resources.ts";
import { Store, type Change, WriteThroughStore } from "../../kube/cache/store.ts";
import { MemberLists, projectMemberList, type MemberList } from "./member-list.ts";

const LOAD_BALANCER = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/My_LB";

const kube = await embeddedKube();

function step(...names: string[]) {
  const members = names.map((name) => ({ name, ipAddress: "10.0.0.4", adminState: undefined }));
  const fragment = { pool: "p", family: "IPv4", members, own: new Set<string>(), virtualNetworkId: "" } as const;
  return { id: `${LOAD_BALANCER}/backendAddressPools/p`, fragment };
}

function balancerWith(...names: string[]): LoadBalancer {
  const entries = names.map((name) => ({ name, properties: {} }));
  const pool = { name: "p", properties: { loadBalancerBackendAddresses: entries } };
  return { id: LOAD_BALANCER, name: "My_LB", properties: { backendAddressPools: [pool] } };
}

/** As before the watch has brought anything. */
function unwatched(): WriteThroughStore<MemberList> {
  return new WriteThroughStore<MemberList>({ subscribe: () => {}, onRewind: () => {}, store: new Store() });
}

async function stored(): Promise<readonly string[]> {
  const place = { namespace: "kube-system", name: "azlb-members-my-lb" };
  return projectMemberList(await kube.client.get(CONFIG_MAPS, place)).members;
}

test("names are there before the pool is written, and go once no pool holds them", async () => {
  const lists = new MemberLists(kube.client, unwatched());
  await lists.remember(step("a", "b"));
  assert.deepEqual(await stored(), ["a", "b"]);
  await lists.remember(step("b", "c"));
  assert.deepEqual(await stored(), ["a", "b", "c"]);
  await lists.settle(step("b", "c"), balancerWith("b", "c", "by-hand"));
  assert.deepEqual(await stored(), ["b", "c"]);
});

test("a node that joins by a write of its own is there before, too", async () => {
  const lists = new MemberLists(kube.client, unwatched());
  await lists.rememberNames(step().id, ["m", "n"]);
  assert.deepEqual(await stored(), ["m", "n"]);
});

test("changes at the same moment lose no name", async () => {
  const lists = new MemberLists(kube.client, unwatched());
  await Promise.all(["x", "y", "z"].map((name) => lists.remember(step(name))));
  assert.deepEqual(await stored(), ["x", "y", "z"]);
});

test("a list that another client deletes is written anew", async () => {
  let subscriber: (change: Change<MemberList>) => void = () => {};
  const subscribe = (each: typeof subscriber) => (subscriber = each);
  const watch = { store: new Store<MemberList>(), subscribe, onRewind: () => {} };
  const lists = new MemberLists(kube.client, new WriteThroughStore<MemberList>(watch));
  const place = { namespace: "kube-system", name: "azlb-members-my-lb" };
  await lists.remember(step("a"));
  const object = projectMemberList(await kube.client.get(CONFIG_MAPS, place));
  await kube.client.delete(CONFIG_MAPS, place);
  subscriber({ kind: "deleted", object });
  await lists.remember(step("a"));
  assert.deepEqual(await stored(), ["a"]);
});
