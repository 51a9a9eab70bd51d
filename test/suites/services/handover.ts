/**
 * The guide of docs/handover.md, command by command, as a user would run it, where the incumbent is (`handover-incumbents.ts`): doctor,
 * plan, shadow, take over, watch, give back. Each prints what the guide says, neither the take-over nor the give-back writes to
 * Azure, and at the end everything is as the incumbent left it.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";

import { APPLIED_ANNOTATION } from "../../../src/core/service/applied-state.ts";
import { AzlbProcess, type Ended, runAzlb } from "../../support/azlb-process.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { reusablePort } from "../../support/reusable-port.ts";
import { ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";
import { type Incumbent, type IncumbentOf, recordedIncumbent } from "./handover-incumbents.ts";
import { isTakenOver, writesToAzure } from "./take-over.ts";

const GUIDE = readFileSync(resolve(import.meta.dirname, "../../../docs/handover.md"), "utf8");
/** A Lease that was never there is taken after its whole duration. */
const LEASE = [
  "--leader-elect-lease-duration=15s",
  "--leader-elect-renew-deadline=12s",
  "--leader-elect-retry-period=500ms",
];
const COMMANDS = ["azlb doctor", "azlb plan", "azlb controller --shadow", "Take over", "azlb plan", "Give back"];

export function handoverSuite(
  name: string,
  open: ClusterOpener,
  incumbentOf: IncumbentOf = recordedIncumbent,
  skip: string | false = false,
): void {
  describe(`the guide to hand a cluster over and back, on ${name}`, { skip }, () => {
    const directory = mkdtempSync(join(tmpdir(), "azlb-guide-"));
    let rig: ServiceRig;
    let incumbent: Incumbent;
    let controller: AzlbProcess;
    let inAzure: unknown;
    let inKubernetes: unknown;

    before(async () => {
      rig = await ServiceRig.open(open, { ipv6: true });
      await rig.stop();
      incumbent = incumbentOf(rig);
      await incumbent.begin();
    });
    after(async () => {
      await incumbent.stop();
      await rig.close();
      rmSync(directory, { recursive: true, force: true });
    });

    test("the guide has these six commands", () => {
      const headings = [...GUIDE.matchAll(/^### (\d)\. `?([^`:\n]+)`?:/gm)].map(([, at, what]) => `${at}. ${what}`);
      assert.deepEqual(
        headings,
        COMMANDS.map((what, at) => `${at + 1}. ${what}`),
      );
    });

    test("1. doctor: nothing is wrong", async () => {
      assertPrints(await azlb("doctor"), incumbent.doctorSays, "Nothing is wrong.");
    });

    test("2. plan: nothing to do", async () => {
      assertPrints(await azlb("plan"), /^/, "Nothing to do.");
    });

    test("3. shadow: it predicts the incumbent's next change", async () => {
      const port = await reusablePort();
      const url = `http://127.0.0.1:${port}`;
      const shadow = start("--shadow", "--shadow-settle=60s", `--shadow-port=${port}`);
      try {
        await shadow.says(/the shadow is running/);
        await eventually(async () => {
          const { stdout } = await runAzlb("shadow", "report", "--url", url);
          assert.match(stdout, /^azlb would write nothing for 1 of 1 Service$/m);
        }, WITHIN_MS);
        await incumbent.change();
        const services = (await incumbent.services()).length;
        await eventually(async () => {
          const report = await runAzlb("shadow", "report", "--url", url);
          const nothing = new RegExp(`^azlb would write nothing for ${services} of ${services} Services$`, "m");
          assertPrints(report, nothing, "of the incumbent: ");
          assert.match(report.stdout, /: [1-9]\d* as predicted, 0 explained by known differences, 0 different$/m);
        }, WITHIN_MS);
      } finally {
        assert.equal((await shadow.end("SIGTERM")).code, 0);
      }
    });

    test("4. take over: not a single write to Azure", async () => {
      await incumbent.stop();
      inAzure = await rig.everything();
      inKubernetes = await services();
      await rig.azure.control("DELETE", "/audit");
      controller = start(...LEASE);
      await controller.says(/the controller is running/);
      for (const service of await incumbent.services()) await isTakenOver(rig, service, undefined);
    });

    test("5. watch: nothing to do, the same addresses, no warnings", async () => {
      assertPrints(await azlb("plan"), /^/, "Nothing to do.");
      for (const service of await incumbent.services()) {
        const warnings = (await rig.events(service)).filter(({ type }) => type === "Warning");
        assert.deepEqual(warnings, []);
      }
    });

    test("6. give back: everything is as the incumbent left it, and azlb has written nothing to Azure", async () => {
      assert.equal((await controller.end("SIGTERM")).code, 0);
      assert.deepEqual(await writesToAzure(rig), []);
      assert.deepEqual(await rig.everything(), inAzure);
      assert.deepEqual(await services(), inKubernetes);
      await incumbent.resume();
      assert.deepEqual(await writesToAzure(rig), [], "nor does the incumbent at its first sync");
      assert.deepEqual(await rig.everything(), inAzure);
      assertPrints(await azlb("doctor"), incumbent.doctorSays, "Nothing is wrong.");
    });

    function files(): readonly string[] {
      return [`--kubeconfig=${rig.cluster.kubeconfig}`, `--cloud-config=${rig.azure.cloudConfigFile}`];
    }

    function azlb(command: string): Promise<Ended> {
      return runAzlb(command, ...files());
    }

    function start(...flags: readonly string[]): AzlbProcess {
      return new AzlbProcess(["controller", ...files(), "--bind-address=127.0.0.1", "--health-port=0", ...flags]);
    }

    /** Services as the incumbent knows them: all but azlb's own mark. */
    async function services(): Promise<unknown> {
      return Promise.all(
        (await incumbent.services()).map(async (service) => {
          const { metadata, spec, status } = await rig.service(service);
          const { [APPLIED_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {};
          return { finalizers: metadata.finalizers, annotations, spec, status };
        }),
      );
    }
  });
}

/** What the guide says, too. */
function assertPrints({ code, stdout, stderr }: Ended, line: RegExp, said: string): void {
  assert.match(stdout, line, stderr);
  assert.ok(stdout.includes(said), stdout + stderr);
  assert.ok(GUIDE.includes(said), `docs/handover.md does not show "${said}"`);
  assert.equal(code, 0, stdout + stderr);
}
