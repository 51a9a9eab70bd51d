/** The network resources of the group that `azlb verify-azure` works in: whether it is empty, what is prepared, what is removed. */
import type { ArmClient } from "../../azure/arm/arm-client.ts";
import { errorText } from "../../core/util/text.ts";

/** Of all that a run makes: its key, and the names of the network and the security group. */
export const TAG = "azlb-verify";
/** In the order in which they can be removed. */
const TYPES = ["loadBalancers", "publicIPAddresses", "virtualNetworks", "networkSecurityGroups"];

interface Tagged {
  readonly id: string;
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
}

interface Pool {
  readonly properties: { loadBalancerBackendAddresses?: readonly { properties: { adminState?: string } }[] };
}

/** The group is not one to try things in. */
export class NotThrowaway extends Error {
  override readonly name = "NotThrowaway";
}

export class Throwaway {
  readonly #arm: ArmClient;
  readonly #network: string;
  readonly #tags: Readonly<Record<string, string>>;

  constructor(arm: ArmClient, network: string, run: string) {
    this.#arm = arm;
    this.#network = network;
    this.#tags = { [TAG]: run };
  }

  list(type: string): Promise<Tagged[]> {
    return this.#arm.list<Tagged>(`${this.#network}/${type}`, { priority: "create" });
  }

  async refuseIfUsed(resourceGroup: string): Promise<void> {
    for (const type of TYPES) {
      const [first] = await this.list(type);
      if (first === undefined) continue;
      const fix = "create an empty group for this, and delete it afterwards";
      throw new NotThrowaway(`--resource-group ${resourceGroup} is in use: it has ${type} "${first.name}"; ${fix}`);
    }
  }

  async prepare(location: string): Promise<void> {
    const write = { priority: "create", ifMatch: "absent" } as const;
    const common = { location, tags: this.#tags };
    const subnets = [{ name: "nodes", properties: { addressPrefix: "10.250.0.0/24" } }];
    const space = { addressSpace: { addressPrefixes: ["10.250.0.0/16"] }, subnets };
    await this.#arm.put(`${this.#network}/networkSecurityGroups/${TAG}`, { ...common, properties: {} }, write);
    await this.#arm.put(`${this.#network}/virtualNetworks/${TAG}`, { ...common, properties: space }, write);
  }

  async securityGroup(): Promise<string> {
    return JSON.stringify(await this.#arm.get(`${this.#network}/networkSecurityGroups/${TAG}`, { priority: "create" }));
  }

  async membersDown(name: string): Promise<number> {
    const pool = await this.#arm.get<Pool>(`${this.#network}/loadBalancers/${name}/backendAddressPools/${name}`, {
      priority: "create",
    });
    const members = pool.properties.loadBalancerBackendAddresses ?? [];
    return members.filter(({ properties }) => properties.adminState === "Down").length;
  }

  /** What bears this run's tag. Returns what could not be removed, a line each. */
  async removeOwn(): Promise<string[]> {
    const left: string[] = [];
    for (const type of TYPES) {
      for (const { id, name, tags } of await this.list(type)) {
        if (tags?.[TAG] !== this.#tags[TAG]) left.push(`LEFT  ${type} "${name}": it is not of this run`);
        else
          await this.#arm
            .delete(id, { priority: "delete" })
            .catch((error: unknown) => left.push(`LEFT  ${type} "${name}": ${errorText(error)}`));
      }
    }
    return left;
  }
}
