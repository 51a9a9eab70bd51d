/**
 * The images as far as they can be seen without a container engine: the file system that the Dockerfile copies is assembled, and
 * its program runs in it as the image's user, read-only.
 */
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";

import { IMAGE_USER } from "../../build/image-tree.ts";
import { VERSION } from "../../src/main/version.ts";
import { ImageRoot } from "../support/image-root.ts";

/** Node and its libraries take 125 MB of it. */
const LARGEST_MB = 136;
const READY_WITHIN_MS = 60_000;

/** In any order. */
const SERVED = [/^ *database +internal +\S+ +port 5432/m, /^ *web +external +\S+ +port 80, 443/m];

suite("the controller's image", () => {
  let image: ImageRoot;
  before(async () => {
    image = await ImageRoot.open("controller");
  });
  after(() => image.close());

  test("has Node, its libraries, the program with its page and licences, and nothing else", () => {
    const files = filesOf(image.folder).filter((file) => !file.startsWith("lib"));
    assert.deepEqual(files, [
      "azlb/LICENSE",
      "azlb/LICENSES-THIRD-PARTY.txt",
      "azlb/controller.mjs",
      "azlb/dashboard/app.css",
      "azlb/dashboard/app.js",
      "azlb/dashboard/icon.svg",
      "azlb/dashboard/index.html",
      "azlb/package.json",
      "azlb/tracing.mjs",
      "etc/group",
      "etc/nsswitch.conf",
      "etc/passwd",
      "usr/bin/node",
    ]);
    const bytes = filesOf(image.folder).reduce((sum, file) => sum + statSync(join(image.folder, file)).size, 0);
    assert.ok(bytes / 1e6 < LARGEST_MB, `${bytes} bytes`);
  });

  test("names the licence of each package in it", () => {
    const licences = readFileSync(join(image.folder, "azlb/LICENSES-THIRD-PARTY.txt"), "utf8");
    for (const name of ["undici", "@azure/identity", "prom-client", "yaml", "commander", "@opentelemetry/sdk-trace"]) {
      assert.match(licences, new RegExp(`^${name} [\\d.]+ \\(`, "m"));
    }
  });

  test("runs as its user, resolves names, and can write nowhere", async () => {
    const look = `
      import { lookup } from "node:dns/promises";
      import { writeFileSync } from "node:fs";
      const codes = ["/azlb/x", "/usr/bin/node", "/etc/passwd", "/x"].map((file) => {
        try { writeFileSync(file, ""); return "written"; } catch (error) { return error.code; }
      });
      const { address } = await lookup("127.0.0.1");
      process.stdout.write(JSON.stringify({ user: process.getuid(), codes, address }));`;
    const { code, out } = await outcome(image.evaluate(look));
    assert.equal(code, 0, out);
    const seen = JSON.parse(out) as { user: number; codes: string[]; address: string };
    assert.equal(seen.address, "127.0.0.1");
    if (!ImageRoot.isIsolated) return;
    assert.equal(seen.user, IMAGE_USER);
    assert.deepEqual(seen.codes, ["EROFS", "EROFS", "EROFS", "EROFS"]);
  });

  test("loads neither Node's own undici nor HTTP/2, and is kept with one byte per character", async () => {
    const look = `
      process.on("exit", () => process.stdout.write(process.moduleLoadList.join(",")));
      process.argv = ["node", "controller", "--kubeconfig=/none", "--cloud-config=/none"];
      await import("${ImageRoot.isIsolated ? "" : image.folder}/azlb/controller.mjs");`;
    const { out } = await outcome(image.evaluate(look));
    assert.match(out, /NativeModule http\b/, "it serves its health over HTTP");
    assert.doesNotMatch(out, /internal\/deps\/undici|NativeModule http2\b/);
    assert.doesNotMatch(readFileSync(join(image.folder, "azlb/controller.mjs"), "latin1"), /[^\0-\x7f]/);
  });

  test("has the controller, and no other command", async () => {
    assert.deepEqual(await outcome(image.run(["--version"], {})), { code: 0, out: `${VERSION}\n` });
    const help = await outcome(image.run(["controller", "--help"], {}));
    assert.match(help.out, /--cluster-name/);
    const sandbox = await outcome(image.run(["sandbox"], {}));
    assert.equal(sandbox.code, 2);
    assert.match(sandbox.out, /unknown command 'sandbox'/);
  });
});

suite("the image of the command line", () => {
  let image: ImageRoot;
  before(async () => {
    image = await ImageRoot.open("cli");
  });
  after(() => image.close());

  test("runs the sandbox and gives its Services their addresses", async () => {
    const sandbox = image.run(["sandbox"], { HOME: "/tmp" });
    const ended = outcome(sandbox);
    const late = setTimeout(() => sandbox.kill("SIGKILL"), READY_WITHIN_MS);
    let said = "";
    let isTold = false; // a second signal would end it at once
    sandbox.stdout?.on("data", (part: Buffer) => {
      said += part.toString();
      if (isTold || !SERVED.every((line) => line.test(said))) return;
      isTold = sandbox.kill("SIGTERM");
    });
    const { code, out } = await ended;
    clearTimeout(late);
    assert.equal(code, 0, out);
    for (const line of SERVED) assert.match(out, line);
  });

  test("has no command that needs the repository", async () => {
    const { code, out } = await outcome(image.run(["bench"], {}));
    assert.equal(code, 2, out);
  });
});

test("the Dockerfile copies these trees, starts these programs, and pins its base", () => {
  const dockerfile = readFileSync(resolve(import.meta.dirname, "../../Dockerfile"), "utf8");
  assert.match(dockerfile, /^ARG BASE=node:\d+\.\d+\.\d+-\w+-slim$/m);
  const stages = [...dockerfile.matchAll(/^FROM scratch AS (\w+)\n([^]*?)(?=\nFROM|$(?![^]))/gm)];
  assert.deepEqual(
    stages.map(([, name]) => name),
    ["sandbox", "agent", "controller"],
    "the last one is what `docker build .` makes",
  );
  for (const [, , lines = ""] of stages) {
    const [, program] = /^COPY --from=build \/tree\/(\w+) \/$/m.exec(lines) ?? [];
    assert.match(lines, new RegExp(`^USER ${IMAGE_USER}:${IMAGE_USER}$`, "m"));
    assert.match(lines, new RegExp(`^ENTRYPOINT \\["/usr/bin/node", .*"/azlb/${program}.mjs"\\]$`, "m"));
  }
});

function filesOf(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return entries.filter((path) => statSync(join(folder, path)).isFile()).toSorted();
}

async function outcome(child: ChildProcess): Promise<{ code: number | null; out: string }> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the output is not piped");
  const [out, complaint] = await Promise.all([text(stdout), text(stderr), once(child, "close")]);
  return { code: child.exitCode, out: `${out}${child.exitCode === 0 ? "" : complaint}` };
}
