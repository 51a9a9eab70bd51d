/**
 * The loops that in a cluster run in and beside the API server, as far as the sandbox needs them. They only look at
 * changes and at the state, and do their work when told to settle, so that a simulation owns their time.
 *
 *   always        | definitions that go take their objects along; events expire
 *   `controllers` | garbage collection, namespace deletion (kube-controller-manager)
 *   `simulate`    | nodes and pods come alive, EndpointSlices follow (kubelet, scheduler, endpoint controller)
 */
import type { HistoryEntry } from "../contract.ts";
import type { EmbeddedApi } from "../embedded-api.ts";
import { Agenda } from "./agenda.ts";
import { emptyDefinitions, emptyNamespaces, expireEvents } from "./cleanup.ts";
import { followPods } from "./endpoint-slices.ts";
import { collectGarbage } from "./garbage-collector.ts";
import { Inside } from "./inside.ts";
import { runKubelets } from "./kubelets.ts";

type Loop = (inside: Inside, agenda: Agenda, entry: HistoryEntry) => void;

export interface LoopOptions {
  readonly controllers: boolean;
  readonly simulate: boolean;
  /** Called when there may be work: now is a good time to settle. */
  readonly changed?: () => void;
}

export class ControlLoops {
  readonly #agenda = new Agenda();
  readonly #inside: Inside;
  readonly #unsubscribe: () => void;

  constructor(api: EmbeddedApi, options: LoopOptions) {
    this.#inside = new Inside(api);
    const loops: Loop[] = [
      emptyDefinitions,
      expireEvents,
      ...(options.controllers ? [collectGarbage, emptyNamespaces] : []),
      ...(options.simulate ? [runKubelets, followPods] : []),
    ];
    const look = (entry: HistoryEntry): void => {
      for (const loop of loops) loop(this.#inside, this.#agenda, entry);
    };
    for (const entry of everything(api)) look(entry);
    this.#unsubscribe = api.subscribe((entry) => {
      look(entry);
      options.changed?.();
    });
  }

  /** Does all that is due; afterwards `nextAtMs` says when there is more to do. */
  settle(): void {
    this.#agenda.run(this.#inside.nowMs);
  }

  get nextAtMs(): number | undefined {
    return this.#agenda.nextAtMs;
  }

  close(): void {
    this.#unsubscribe();
  }
}

/** What stands in the store already, as if it had just come. */
function* everything({ state }: EmbeddedApi): Iterable<HistoryEntry> {
  for (const [collection, { objects }] of state.collections) {
    for (const object of objects.values()) {
      yield { type: "ADDED", revision: state.revision, collection, object, previous: undefined };
    }
  }
}
