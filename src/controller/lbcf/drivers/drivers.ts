/** Resolves a driver's name: the built-in driver, or the webhooks of a LoadBalancerDriver. */
import { type DriverState, driverProblem } from "../../../core/lbcf/drivers/reconcile-driver.ts";
import { AZURE_DRIVER } from "../../../core/lbcf/objects/names.ts";
import type { Driver } from "../../../core/lbcf/objects/objects.ts";
import { isDraining, referencedKey } from "../../../core/lbcf/objects/references.ts";
import { keyOf } from "../../../kube/client/resources.ts";
import type { WriteThroughStore } from "../../../kube/cache/store.ts";
import type { BackendDriver } from "./driver.ts";
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

  webhooks(driver: Driver): WebhookDriver {
    const key = keyOf(driver);
    const id = `${driver.metadata.uid} ${driver.metadata.generation}`;
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
