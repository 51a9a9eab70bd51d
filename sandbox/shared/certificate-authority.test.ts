import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer, get } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { after, test } from "node:test";

import { openCertificateAuthority } from "./certificate-authority.ts";

const directory = mkdtempSync(join(tmpdir(), "azlb-ca-"));
after(() => rmSync(directory, { recursive: true }));

interface Handshake {
  readonly user: string;
  readonly groups: string | string[] | undefined;
}

async function handshake(
  server: { certPem: string; keyPem: string },
  clientOptions: { ca: string; cert?: string; key?: string; host: string },
): Promise<Handshake> {
  const listening = createServer(
    { cert: server.certPem, key: server.keyPem, ca: clientOptions.ca, requestCert: clientOptions.cert !== undefined },
    (request, response) => {
      const subject = (request.socket as TLSSocket).getPeerCertificate().subject;
      response.end(JSON.stringify({ user: subject?.CN ?? "", groups: subject?.O }));
    },
  );
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  try {
    return await new Promise<Handshake>((resolve, reject) => {
      const port = (listening.address() as AddressInfo).port;
      get({ ...clientOptions, port, path: "/", agent: false }, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve(JSON.parse(text) as Handshake));
      }).on("error", reject);
    });
  } finally {
    listening.close();
  }
}

test("a client that trusts the authority reaches its server by address and by name", async () => {
  const authority = await openCertificateAuthority(directory);
  const server = await authority.issueServer();
  for (const host of ["127.0.0.1", "localhost"]) {
    assert.equal((await handshake(server, { ca: authority.caPem, host })).user, "");
  }
});

test("a client certificate carries user and groups", async () => {
  const authority = await openCertificateAuthority(directory);
  const client = await authority.issueClient({ user: "jane", groups: ["system:masters", "others"] });
  const seen = await handshake(await authority.issueServer(), {
    ca: authority.caPem,
    cert: client.certPem,
    key: client.keyPem,
    host: "127.0.0.1",
  });
  assert.deepEqual(seen, { user: "jane", groups: ["system:masters", "others"] });
});

test("opened again it is the same authority", async () => {
  const first = await openCertificateAuthority(directory);
  const second = await openCertificateAuthority(directory);
  assert.equal(second.caPem, first.caPem);
  const server = await second.issueServer();
  assert.equal((await handshake(server, { ca: first.caPem, host: "127.0.0.1" })).user, "");
});

test("a stranger's certificate is refused", async () => {
  const authority = await openCertificateAuthority(directory);
  const stranger = await openCertificateAuthority(join(directory, "stranger"));
  await assert.rejects(handshake(await stranger.issueServer(), { ca: authority.caPem, host: "127.0.0.1" }));
});

test("the key and its folder are readable by their owner only, also where they were readable by others", async () => {
  const folder = join(directory, "private");
  const modes = (): string[] =>
    [folder, join(folder, "ca.key")].map((path) => (statSync(path).mode & 0o777).toString(8));
  await openCertificateAuthority(folder);
  assert.deepEqual(modes(), ["700", "600"]);
  chmodSync(folder, 0o755);
  chmodSync(join(folder, "ca.key"), 0o644);
  await openCertificateAuthority(folder);
  assert.deepEqual(modes(), ["700", "600"]);
});
