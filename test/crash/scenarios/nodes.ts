/** Nodes that come, go, and are doomed, on the usual cluster. */
import {
  addNode,
  announceEviction,
  create,
  doom,
  patchNode,
  removeNode,
  save,
  type CrashScenario,
} from "./scenario.ts";

const NODE = "vmss000001";
const EXCLUDED = { "node.kubernetes.io/exclude-from-external-load-balancers": "true" };

export const NODE_SCENARIOS: readonly CrashScenario[] = [
  { name: "a node comes", before: [create("web")], act: addNode("newcomer", "10.240.8.8") },
  { name: "a node goes", before: [create("web")], act: removeNode(NODE) },
  { name: "a node is excluded", before: [create("web")], act: patchNode(NODE, { metadata: { labels: EXCLUDED } }) },
  { name: "a node is doomed", before: [create("web")], act: doom(NODE) },
  { name: "a doomed node is saved", before: [create("web"), doom(NODE)], act: save(NODE) },
  { name: "a doomed node goes", before: [create("web"), doom(NODE)], act: removeNode(NODE) },
  { name: "a node's eviction is announced", before: [create("web")], act: announceEviction(NODE) },
  { name: "a Service comes while a node is doomed", before: [doom(NODE)], act: create("web") },
];
