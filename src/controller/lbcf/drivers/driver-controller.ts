/**
 * Reconciles LoadBalancerDrivers: validates them, probes their health, and keeps their finalizer while load balancers or
 * records use them. When a driver becomes healthy again, the objects that waited for it are enqueued.
 */
import { FINALIZER } from "../../../core/lbcf/objects/names.ts";
import { driverProblem, reconcileDriver } from "../../../core/lbcf/drivers/reconcile-driver.ts";
import type { Driver } from "../../../core/lbcf/objects/objects.ts";
import { keyOf } from "../../../kube/client/resources.ts";
import type { Job, Verdict } from "../../../kube/work-queue.ts";
import { DONE, later, type LbcfContext, LbcfLoop } from "../lbcf-loop.ts";
import { DRIVERS } from "../objects/resources.ts";
import type { Health } from "./webhook-driver.ts";

export interface DriverControllerOptions extends LbcfContext {
  /** Called with `namespace/name` of a driver that is healthy again. */
  readonly onUsable: (key: string) => void;
  readonly healthEveryMs: number;
}

export class DriverController {
  readonly loop: LbcfLoop;
  readonly #options: DriverControllerOptions;

  constructor(options: DriverControllerOptions) {
    this.#options = options;
    this.loop = new LbcfLoop(DRIVERS, options, (job) => this.#reconcile(job));
  }

  async #reconcile({ key }: Job): Promise<Verdict> {
    const { cache, writer, clock } = this.#options;
    const driver = cache.drivers.objects.get(key);
    if (driver === undefined) return DONE;
    const health = driverProblem(driver) === undefined ? await this.#probe(driver) : undefined;
    const decision = reconcileDriver({
      driver,
      loadBalancers:
        cache.loadBalancers.objects.by("driver", key).length + cache.binds.objects.by("driver", key).length,
      records: cache.records.objects.by("driver", key).length,
      health,
      nowMs: clock.nowMs(),
    });
    if (decision.finalizer === "remove") {
      cache.drivers.released(driver, await writer.removeFinalizer(DRIVERS, driver, FINALIZER.driver));
      return DONE;
    }
    if (decision.finalizer === "add") await writer.addFinalizer(DRIVERS, driver, FINALIZER.driver);
    const { conditions } = decision;
    if (conditions !== driver.status.conditions) {
      cache.drivers.wrote(await writer.storeStatus(DRIVERS, driver, { conditions }));
    }
    return later(this.#options.healthEveryMs);
  }

  async #probe(driver: Driver): Promise<Health | undefined> {
    const { drivers, onUsable } = this.#options;
    const webhooks = drivers.webhooks(driver);
    const before = webhooks.health;
    const health = await webhooks.probe();
    if (before?.healthy === false && health?.healthy !== false) onUsable(keyOf(driver));
    return health;
  }
}
