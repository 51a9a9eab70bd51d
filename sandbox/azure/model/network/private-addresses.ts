/**
 * Assigns private addresses of a subnet. The first four addresses and the last one are reserved; the first usable one is
 * `.4`.
 */
import { contains, formatAddress, parseAddress, parseBlock, type Block, type Family } from "../../../shared/cidr.ts";
import { invalid } from "../errors.ts";
import { propertiesOf, stringOf, stringsOf, type Json } from "../json.ts";
import { parentKeyOf } from "../ids.ts";
import { childrenOf, type Target } from "../lookups.ts";
import type { State } from "../state.ts";

const RESERVED_AT_START = 4n;

/** Addresses assigned by one request so far, so that two configurations in one body get different ones. */
export class Reservations {
  readonly #taken = new Map<string, string>();
  readonly #cursors = new Map<string, bigint>();

  take(subnetKey: string, address: string, holder: string): string | undefined {
    const key = `${subnetKey}|${address}`;
    const other = this.#taken.get(key);
    if (other === undefined) this.#taken.set(key, holder);
    return other;
  }

  /** The first free address of the block. */
  firstFree(state: State, subnet: Target, block: Block): string | undefined {
    const held = state.addresses.get(subnet.key);
    const cursorKey = `${subnet.key}|${block.family}`;
    const end = block.last - (block.family === 4 ? 1n : 0n);
    for (let value = this.#cursors.get(cursorKey) ?? block.first + RESERVED_AT_START; value <= end; value++) {
      const address = formatAddress(block.family, value);
      if (held?.has(address) || this.#taken.has(`${subnet.key}|${address}`)) continue;
      this.#cursors.set(cursorKey, value + 1n);
      return address;
    }
    return undefined;
  }
}

export interface AddressRequest {
  /** Id of the configuration that needs an address. */
  readonly holder: string;
  /** Id of its resource; addresses that this resource holds already do not conflict. */
  readonly owner: string;
  readonly properties: Json;
  /** The configuration before the write, to keep its address. */
  readonly before: Json | undefined;
  /** Error code for a taken address, where it differs. */
  readonly takenCode?: "PrivateIPAddressInUse";
}

/** The private address of a configuration after this write; refuses an unavailable static one. */
export function assignPrivateAddress(
  state: State,
  reservations: Reservations,
  subnet: Target,
  request: AddressRequest,
): string {
  const family: Family = request.properties["privateIPAddressVersion"] === "IPv6" ? 6 : 4;
  const block = blocksOf(subnet.child ?? {}).find((candidate) => candidate.family === family);
  if (!block) throw full(subnet, request.holder);
  const wanted = stringOf(request.properties["privateIPAddress"]);
  if (isStatic(request.properties) && wanted !== undefined) {
    return takeStatic(state, reservations, { subnet, block, wanted, request });
  }
  const kept = keptAddress(subnet, request);
  if (kept === undefined) checkRoom(state, subnet);
  const address = kept ?? reservations.firstFree(state, subnet, block);
  if (address === undefined) throw full(subnet, request.holder);
  reservations.take(subnet.key, address, request.holder);
  return address;
}

function checkRoom(state: State, subnet: Target): void {
  const limit = state.options.limits.privateAddressesPerVirtualNetwork;
  let count = 0;
  for (const name of childrenOf(subnet.resource.body, "subnets").keys()) {
    count += state.addresses.get(`${parentKeyOf(subnet.key)}/subnets/${name}`)?.size ?? 0;
  }
  if (count < limit) return;
  throw invalid(
    "PrivateIPAddressCountLimitReached",
    `Virtual network ${subnet.resource.id} cannot have more than ${limit} private IP addresses.`,
  );
}

function isStatic(properties: Json): boolean {
  return properties["privateIPAllocationMethod"] === "Static";
}

function keptAddress(subnet: Target, request: AddressRequest): string | undefined {
  const before = request.before && propertiesOf(request.before);
  const subnetBefore = stringOf((before?.["subnet"] as Json | undefined)?.["id"]);
  if (subnetBefore?.toLowerCase() !== subnet.key) return undefined;
  if (before?.["privateIPAddressVersion"] !== (request.properties["privateIPAddressVersion"] ?? "IPv4"))
    return undefined;
  return stringOf(before?.["privateIPAddress"]);
}

interface StaticRequest {
  readonly subnet: Target;
  readonly block: Block;
  readonly wanted: string;
  readonly request: AddressRequest;
}

function takeStatic(
  state: State,
  reservations: Reservations,
  { subnet, block, wanted, request }: StaticRequest,
): string {
  const parsed = parseAddress(wanted);
  if (!parsed || !contains(block, parsed)) {
    throw invalid(
      "PrivateIPAddressNotInSubnet",
      `Private static IP address ${wanted} does not belong to the range of subnet prefix ${prefixText(subnet.child ?? {})}.`,
    );
  }
  if (!isUsable(block, wanted)) {
    throw invalid(
      "PrivateIPAddressInReservedRange",
      `Private static IP address ${wanted} falls within reserved IP range of subnet prefix ${prefixText(subnet.child ?? {})}.`,
    );
  }
  const address = formatAddress(block.family, parsed.value);
  const holder = state.addresses.get(subnet.key)?.get(address);
  const other = holder !== undefined && !belongsTo(holder, request.owner) ? holder : undefined;
  const clash = other ?? reservations.take(subnet.key, address, request.holder);
  if (clash !== undefined) throw allocated(request.takenCode ?? "PrivateIPAddressIsAllocated", address, clash);
  return address;
}

/** Whether an address of the block is not reserved by Azure. */
export function isUsable(block: Block, address: string): boolean {
  const value = parseAddress(address)?.value ?? 0n;
  return value - block.first >= RESERVED_AT_START && (block.family === 6 || value !== block.last);
}

function belongsTo(holder: string, owner: string): boolean {
  return holder === owner || holder.startsWith(`${owner}/`);
}

function allocated(code: string, address: string, holder: string): Error {
  return invalid(
    code,
    `IP configuration ${holder} is using the private IP address ${address} which is already allocated.`,
  );
}

function full(subnet: Target, holder: string): Error {
  return invalid(
    "SubnetIsFull",
    `Subnet ${subnet.id} with address prefix ${prefixText(subnet.child ?? {})} does not have enough capacity for IP configuration ${holder}.`,
  );
}

/** The blocks of a stored subnet, from `addressPrefix` or `addressPrefixes`. */
export function blocksOf(subnet: Json): Block[] {
  return prefixesOf(subnet)
    .map(parseBlock)
    .filter((block) => block !== undefined);
}

export function prefixesOf(subnet: Json): readonly string[] {
  const properties = propertiesOf(subnet);
  const single = stringOf(properties["addressPrefix"]);
  return single === undefined ? stringsOf(properties["addressPrefixes"]) : [single];
}

function prefixText(subnet: Json): string {
  return prefixesOf(subnet).join(", ");
}
