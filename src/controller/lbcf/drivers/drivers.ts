/** Resolves a driver's name: the built-in driver, or the webhooks of a LoadBalancerDriver. */
import { type DriverState, driverProblem } from "../../../core/lbcf/drivers/reconcile-driver.ts";
import { AZURE_DRIVER } from "../../../core/lbcf/objects/names.ts";
import type { Driver } from "../../../core/lbcf/objects/objects.ts";
import { isDraining, referencedKey } from "../../../core/lbcf/objects/references.ts";
import { keyOf } from "../../../kube/client/resources.ts";
import type { WriteThroughStore } from "../../../kube/cache/store.ts";
import type { BackendDriver } from "./driver.ts";
import type { Question } from "./retry-delays.ts";
import type { WebhookDriver } from "./webhook-driver.ts";

export interface DriversOptions {
  readonly drivers: WriteThroughStore<Driver>;
  readonly azure: BackendDriver;
  readonly open: (driver: Driver) => WebhookDriver;
}

export class Drivers {
  readonly #options: DriversOptions;
  /** By key; `id` is the uid and generation that the driver was opened for. */
  readonly #opened = new Map<string, { readonly id: string; readonly driver: WebhookDriver }>();

  constructor(options: DriversOptions) {
    this.#options = options;
  }

  /** The driver that an object in `namespace` refers to; `undefined` when none can be used. */
  of(name: string, namespace: string): BackendDriver | undefined {
    if (name === AZURE_DRIVER) return this.#options.azure;
    const driver = this.#options.drivers.get(referencedKey(name, namespace));
    return driver === undefined || driverProblem(driver) !== undefined ? undefined : this.webhooks(driver);
  }

  stateOf(name: string, namespace: string): DriverState {
    if (name === AZURE_DRIVER) return "ready";
    const driver = this.#options.drivers.get(referencedKey(name, namespace));
    if (driver === undefined || driverProblem(driver) !== undefined) return "missing";
    return isDraining(driver.metadata) ? "draining" : "ready";
  }

  /**
   * A question to the driver that an object in `namespace` refers to. `parts` tell questions about the object apart; a
   * driver whose spec has changed is another one.
   */
  question(
    object: { readonly uid: string; readonly namespace: string },
    name: string,
    parts: readonly unknown[],
  ): Question {
    const key = referencedKey(name, object.namespace);
    const driver = this.#options.drivers.get(key);
    const version = driver === undefined ? "" : versionOf(driver);
    return { object: object.uid, driver: key, text: JSON.stringify([version, ...parts]) };
  }

  webhooks(driver: Driver): WebhookDriver {
    const key = keyOf(driver);
    const id = versionOf(driver);
    const known = this.#opened.get(key);
    if (known?.id === id) return known.driver;
    const opened = this.#options.open(driver);
    this.#opened.set(key, { id, driver: opened });
    return opened;
  }

  forget(key: string): void {
    this.#opened.delete(key);
  }
}

/** Changes with the driver's spec. */
function versionOf({ metadata }: Driver): string {
  return `${metadata.uid} ${metadata.generation}`;
}
