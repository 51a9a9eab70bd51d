/** What no well-behaved client sends: answered as Azure does, and the emulator goes on. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { afterEach, test } from "node:test";

import { armHttp, errorCode, wire } from "./arm-http.ts";
import { azureUnderTest } from "./azure-under-test.ts";
import { refusesWebPages } from "../../suites/control/refuses-web-pages.ts";

const LIMIT = 256 * 1024;
const VERSION = "?api-version=2025-05-01";
const azure = await azureUnderTest({ topology: { nodes: 0 }, maxBodyBytes: LIMIT, plainHttp: true });
const arm = await armHttp(azure);
const group = `/subscriptions/${azure.subscriptionId}/resourceGroups/${azure.resourceGroup}`;
const network = `${group}/providers/Microsoft.Network`;

/** Whatever was sent, the next request is answered. */
afterEach(async () => {
  const alive = await arm.send("GET", `${network}/virtualNetworks/vnet${VERSION}`);
  assert.equal(alive.status, 200);
});

const putText = (text: string) => arm.send("PUT", `${network}/loadBalancers/bad${VERSION}`, { text });

for (const text of ["{", "not json", '{"location": "westus2",}', '{"a": "\u0001"}']) {
  test(`unreadable JSON is refused: ${JSON.stringify(text)}`, async () => {
    const answer = await putText(text);
    assert.equal(answer.status, 400);
    assert.equal(errorCode(answer), "InvalidRequestFormat");
    const { details } = (answer.body as { error: { details: { code: string }[] } }).error;
    assert.deepEqual(
      details.map(({ code }) => code),
      ["InvalidJson"],
    );
  });
}

for (const body of [
  "[]",
  "null",
  "7",
  '"text"',
  "true",
  "",
  '{"properties": []}',
  '{"location": {}}',
  '{"properties": {"probes": {}}}',
]) {
  test(`JSON of the wrong shape is refused: ${JSON.stringify(body)}`, async () => {
    const answer = await putText(body);
    assert.equal(answer.status, 400, answer.text);
    assert.ok(errorCode(answer), answer.text);
  });
}

test("a body beyond the limit is refused with 413, and none of it is kept", async () => {
  const answer = await putText(`{"location": "westus2", "tags": {"x": "${"x".repeat(LIMIT)}"}}`);
  assert.equal(answer.status, 413);
  assert.equal(errorCode(answer), "RequestContentTooLarge");
  assert.equal((await arm.send("GET", `${network}/loadBalancers/bad${VERSION}`)).status, 404);
});

test("nesting without end counts as unreadable", async () => {
  const depth = 20_000;
  const answer = await putText(`{"location": "westus2", "x": ${"[".repeat(depth)}${"]".repeat(depth)}}`);
  assert.deepEqual([answer.status, errorCode(answer)], [400, "InvalidRequestFormat"]);
});

test("names from a prototype are plain names", async () => {
  const answer = await putText(
    '{"location": "westus2", "tags": {"__proto__": "x", "constructor": "y"}, "__proto__": {"z": 1}}',
  );
  assert.ok(answer.status < 500, answer.text);
  assert.equal(({} as Record<string, unknown>)["z"], undefined);
});

const UNKNOWN: readonly [string, number, string][] = [
  ["/", 404, "ResourceNotFound"],
  ["/nowhere", 404, "ResourceNotFound"],
];

for (const [path, status] of UNKNOWN) {
  test(`unknown path ${path}`, async () => {
    assert.equal((await arm.send("GET", `${path}${VERSION}`)).status, status);
  });
}

test("unknown type, namespace, group, subscription and child", async () => {
  const cases: [string, number, string][] = [
    [`${network}/unheardOf/x`, 404, "InvalidResourceType"],
    [`${group}/providers/Microsoft.Nowhere/things/x`, 404, "InvalidResourceNamespace"],
    [
      `/subscriptions/${azure.subscriptionId}/resourceGroups/nope/providers/Microsoft.Network/loadBalancers/x`,
      404,
      "ResourceGroupNotFound",
    ],
    ["/subscriptions/99999999-0000-4000-8000-000000000000/resourceGroups/rg", 404, "SubscriptionNotFound"],
    [`${network}/loadBalancers/x/backendAddressPools/y`, 404, "ParentResourceNotFound"],
    [`${network}/networkSecurityGroups/nsg/securityRules/y`, 404, "NotFound"],
  ];
  for (const [path, status, code] of cases) {
    const answer = await arm.send("GET", `${path}${VERSION}`);
    assert.deepEqual([answer.status, errorCode(answer)], [status, code], path);
  }
});

test("a missing or misshapen api-version", async () => {
  const path = `${network}/loadBalancers`;
  const missing = await arm.send("GET", path);
  assert.deepEqual([missing.status, errorCode(missing)], [400, "MissingApiVersionParameter"]);
  for (const version of ["latest", "2025", "2025-05-01; drop"]) {
    const answer = await arm.send("GET", `${path}?api-version=${encodeURIComponent(version)}`);
    assert.deepEqual([answer.status, errorCode(answer)], [400, "InvalidApiVersionParameter"], version);
  }
});

test("methods that Resource Manager does not have", async () => {
  for (const method of ["OPTIONS", "PROPFIND"]) {
    assert.equal((await arm.send(method, `${network}/loadBalancers/x${VERSION}`)).status, 405, method);
  }
  const child = await arm.send("PUT", `${network}/loadBalancers/x/probes/y${VERSION}`, { body: {} });
  assert.ok(child.status >= 400 && child.status < 500, "probes are only read");
});

test("a path that cannot be decoded", async () => {
  const answer = await arm.send("GET", `${network}/loadBalancers/%zz${VERSION}`);
  assert.equal(answer.status, 400);
});

/** Sends raw bytes to the plain listener; resolves with what came back when the connection ends. */
function rawBytes(bytes: string, hangUp: boolean): Promise<string> {
  const { port } = new URL(azure.httpEndpoint ?? "");
  return new Promise((resolve, reject) => {
    let seen = "";
    const socket = connect(Number(port), "127.0.0.1", () => {
      socket.write(bytes);
      if (hangUp) socket.destroy();
    });
    socket.on("data", (chunk) => (seen += chunk.toString()));
    socket.on("close", () => resolve(seen));
    socket.on("error", reject);
  });
}

test("bytes that are no HTTP", async () => {
  assert.match(await rawBytes("\u0000\u0001 hello\r\n\r\n", false), /^HTTP\/1\.1 400 /);
});

test("a client that hangs up in the middle of its body", async () => {
  const head = `PUT ${network}/loadBalancers/half${VERSION} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"loc`;
  assert.equal(await rawBytes(head, true), "");
});

test("the control endpoint explains what it does not understand", async () => {
  const post = (path: string, text: string) => wire(`${azure.controlUrl}${path}`, "POST", { text });
  assert.match((await post("/faults", "{")).text, /fault is not JSON/);
  assert.match((await post("/faults", '{"effect": {"kind": "boom"}}')).text, /fault\.effect\.kind must be one of/);
  assert.match(
    (await post("/seed", '{"resources": [{"path": "x", "body": {}}]}')).text,
    /seed\.resources\[0\]\.path must be/,
  );
  const refused = await post("/seed", `{"resources": [{"path": "${network}/loadBalancers/x", "body": {}}]}`);
  assert.match(refused.text, /was refused with 400.*LocationRequired/);
  const patch = (body: string) => wire(`${azure.controlUrl}/settings`, "PATCH", { text: body });
  assert.match((await patch('{"latency": "slow"}')).text, /latency must be none, realistic or a factor/);
  assert.match((await patch('{"limits": {"rulesPerNIC": 1}}')).text, /a key of limits must be one of/);
  assert.equal((await post("/nowhere", "")).status, 404);
});

refusesWebPages(() => azure.controlUrl);
