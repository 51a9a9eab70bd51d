/**
 * Laws of the whole model, over random histories of valid and invalid requests:
 *
 *   refusals      a refused request changes nothing
 *   references    nothing refers to what is not there
 *   symmetry      both sides of every relation say the same
 *   ETags         same ETag, same content; other ETag, other content; none is ever used twice
 *   durability    a journal replayed, and a snapshot restored, give the same state
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../../../test/support/laws.ts";
import { isCompute } from "./etags.ts";
import { apply, decide, emptyState, restore, settle, snapshot, type Change, type State } from "./index.ts";
import { wireOf } from "./call.ts";
import { typeNamed } from "./registry.ts";
import { history, type Command } from "./laws.commands.ts";
import { danglingReferences, asymmetries } from "./laws.invariants.ts";
import { API_VERSION, TestAzure } from "./test-azure.ts";

const LIMITS = { standardPublicIps: 3, rulesPerNic: 3, poolSize: 4 };

class Run {
  readonly azure = new TestAzure({ limits: LIMITS });
  readonly journal: Change[] = [];
  readonly #seen = new Map<string, { etag: string; content: string; past: Set<string> }>();

  play(command: Command): void {
    const { azure } = this;
    azure.nowMs += command.afterMs;
    azure.tailMs = command.tailMs;
    azure.fate = command.fate;
    this.#keep(settle(azure.state, azure.nowMs));
    this.checkEtags();
    const before = JSON.stringify(snapshot(azure.state));
    const etag = this.#etagFor(command);
    const decision = decide(
      azure.state,
      {
        method: command.method,
        path: command.path,
        query: { "api-version": API_VERSION },
        headers: etag === undefined ? {} : { "if-match": etag },
        body: this.#bodyOf(command),
        nowMs: azure.nowMs,
        baseUrl: "https://arm.test",
      },
      azure.draws,
    );
    assert.equal(JSON.stringify(snapshot(azure.state)), before, "deciding alters nothing");
    if (decision.response.status >= 400) assert.deepEqual(decision.changes, [], "a refusal changes nothing");
    this.#keep(decision.changes);
    this.check();
  }

  #keep(changes: readonly Change[]): void {
    this.journal.push(...(JSON.parse(JSON.stringify(changes)) as Change[]));
    apply(this.azure.state, changes);
  }

  #bodyOf(command: Command): unknown {
    if (command.body === undefined) return undefined;
    if (command.echo === undefined) return JSON.parse(JSON.stringify(command.body));
    const there = this.azure.get(command.path);
    const text = JSON.stringify(there.body, (name, value: unknown) =>
      name === "properties" && command.echo !== "as it is" && isMember(value)
        ? { ...value, adminState: command.echo }
        : value,
    );
    return JSON.parse(text);
  }

  #etagFor(command: Command): string | undefined {
    if (command.ifMatch === "stale") return 'W/"stale"';
    const resource = this.azure.state.resources.get(command.path.toLowerCase());
    return command.ifMatch === "current" && resource ? String(wireOf(this.azure.state, resource)["etag"]) : undefined;
  }

  check(): void {
    const { state } = this.azure;
    assert.deepEqual(danglingReferences(state), []);
    assert.deepEqual(asymmetries(state), []);
    this.checkEtags();
  }

  checkEtags(): void {
    const { state } = this.azure;
    for (const resource of state.resources.values()) {
      const wire = wireOf(state, resource);
      assert.deepEqual(wire, typeNamed(resource.type).render(state, resource), `${resource.id} is shown as it is`);
      const etag = String(wire["etag"]);
      if (wire["etag"] === undefined || isCompute(resource.type)) continue; // compute counts writes, not appearances
      const content = JSON.stringify(wire).replaceAll(JSON.stringify(etag), "");
      const known = this.#seen.get(resource.guid) ?? { etag: "", content: "", past: new Set<string>() };
      assert.equal(etag === known.etag, content === known.content, `ETag of ${resource.id} moves with its content`);
      if (etag === known.etag) continue;
      assert.ok(!known.past.has(etag), `ETag of ${resource.id} is used once`);
      this.#seen.set(resource.guid, { etag, content, past: known.past.add(etag) });
    }
  }
}

function isMember(value: unknown): value is object {
  return (
    typeof value === "object" && value !== null && ("ipAddress" in value || "networkInterfaceIPConfiguration" in value)
  );
}

/** Everything that can be asked of a state. */
function picture(state: State): unknown {
  const wires = [...state.resources.values()].map((resource) => typeNamed(resource.type).render(state, resource));
  return {
    snapshot: snapshot(state),
    wires,
    running: [...state.running.keys()],
    locks: sorted(state.locks),
    addresses: flat(state.addresses),
  };
}

function flat(addresses: State["addresses"]): unknown {
  return sorted([...addresses].map(([subnet, held]): [string, unknown] => [subnet, sorted(held)]));
}

function sorted<Value>(entries: Iterable<[string, Value]>): [string, Value][] {
  return [...entries].sort(([left], [right]) => (left < right ? -1 : 1));
}

test("random histories keep every law", () => {
  fc.assert(
    fc.property(history, (commands) => {
      const run = new Run();
      for (const command of commands) run.play(command);
      const { state } = run.azure;
      const replayed = emptyState({ limits: LIMITS });
      apply(replayed, run.journal);
      assert.deepEqual(picture(replayed), picture(state), "replaying the journal gives the same state");
      const restored = restore(JSON.parse(JSON.stringify(snapshot(state))));
      assert.deepEqual(picture(restored), picture(state), "restoring a snapshot gives the same state");
    }),
    { numRuns: 150 },
  );
});
