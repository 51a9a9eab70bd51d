/** The clients that the embedded API lets in: with its token or a certificate of its authority, and no others. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Agent } from "undici";

import { type RunningKubernetes, startKubernetes } from "../../../sandbox/kubernetes/index.ts";
import { openCertificateAuthority } from "../../../sandbox/shared/certificate-authority.ts";

const directory = mkdtempSync(join(tmpdir(), "azlb-credentials-"));
const stranger = mkdtempSync(join(tmpdir(), "azlb-stranger-"));
let kubernetes: RunningKubernetes;

before(async () => void (kubernetes = await startKubernetes({ dataDir: directory })));
after(async () => {
  await kubernetes.close();
  for (const used of [directory, stranger]) rmSync(used, { recursive: true });
});

interface Credentials {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
}

async function statusFor({ token, ...certificate }: Credentials): Promise<number> {
  const agent = new Agent({ connect: { ca: readFileSync(kubernetes.caFile, "utf8"), ...certificate } });
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const reply = await agent.request({ origin: kubernetes.url, path: "/api/v1/nodes", method: "GET", headers });
  await reply.body.dump();
  await agent.close();
  return reply.statusCode;
}

async function certificateFrom(authorityDirectory: string): Promise<Credentials> {
  const authority = await openCertificateAuthority(authorityDirectory);
  const { certPem, keyPem } = await authority.issueClient({ user: "someone", groups: ["system:masters"] });
  return { cert: certPem, key: keyPem };
}

test("the token and a certificate of the authority are let in", async () => {
  assert.equal(await statusFor({ token: kubernetes.token }), 200);
  assert.equal(await statusFor(await certificateFrom(join(directory, "pki"))), 200);
});

test("nothing, another token and another authority's certificate are not", async () => {
  assert.equal(await statusFor({}), 401);
  assert.equal(await statusFor({ token: "guessed" }), 401);
  assert.equal(await statusFor({ token: "x".repeat(kubernetes.token.length) }), 401);
  assert.equal(await statusFor(await certificateFrom(stranger)), 401);
});
