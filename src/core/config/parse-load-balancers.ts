/**
 * `multipleStandardLoadBalancerConfigurations`: the Standard load balancers that Services are placed on. Field names and
 * defaults are the incumbent's; what it would only notice at the first sync is told here.
 */
import { isResourceName } from "../model/ids.ts";
import { type LabelSelector, parseLabelSelector } from "../util/label-selector.ts";
import { closestMatch } from "../util/text.ts";
import type { ClusterConfig, LoadBalancerConfig } from "./cluster-config.ts";
import { type ConfigReader, isRecord, RESOURCE_NAME } from "./config-reader.ts";

const KEY = "multipleStandardLoadBalancerConfigurations";
const FIELDS = [
  "name",
  "primaryVMSet",
  "allowServicePlacement",
  "serviceLabelSelector",
  "serviceNamespaceSelector",
  "nodeSelector",
] as const;
type Field = (typeof FIELDS)[number];

interface Surroundings extends Pick<ClusterConfig, "sku" | "poolType" | "clusterName"> {}

export interface ParsedLoadBalancers {
  readonly loadBalancers: readonly LoadBalancerConfig[];
  readonly warnings: readonly string[];
}

/** What is wrong is added to the errors of `read`. */
export function parseLoadBalancers(read: ConfigReader, surroundings: Surroundings): ParsedLoadBalancers {
  const items = read.list(KEY).map((raw, at) => new Item(raw, `${KEY}[${at}]`));
  const loadBalancers = items.map(parseItem);
  read.errors.push(...items.flatMap(({ errors }) => errors));
  if (loadBalancers.length > 0) read.errors.push(...checkTogether(loadBalancers, surroundings));
  return { loadBalancers, warnings: items.flatMap(({ warnings }) => warnings) };
}

function parseItem(item: Item): LoadBalancerConfig {
  const name = item.text("name");
  if (name !== "" && !isResourceName(`${name}-internal`)) {
    item.errors.push(
      `${item.path}.name is ${JSON.stringify(name)}, allowed: ${RESOURCE_NAME}; -internal must fit behind it`,
    );
  } else if (/-internal$/i.test(name)) {
    item.errors.push(
      `${item.path}.name is "${name}": internal load balancers are made beside it, name it without -internal`,
    );
  }
  return {
    name,
    primaryVmSet: item.text("primaryVMSet"),
    allowServicePlacement: item.flag("allowServicePlacement", true),
    serviceSelector: item.selector("serviceLabelSelector"),
    namespaceSelector: item.selector("serviceNamespaceSelector"),
    nodeSelector: item.selector("nodeSelector"),
  };
}

function checkTogether(loadBalancers: readonly LoadBalancerConfig[], surroundings: Surroundings): string[] {
  const { sku, poolType, clusterName } = surroundings;
  const isNamed = loadBalancers.some(({ name }) => name.toLowerCase() === clusterName.toLowerCase());
  return [
    ...(sku === "standard" ? [] : [`${KEY} needs loadBalancerSku standard, but it is ${sku}: set it to standard`]),
    ...(poolType === "nodeIP"
      ? []
      : [`${KEY} needs loadBalancerBackendPoolConfigurationType nodeIP, but it is ${poolType}: set it to nodeIP`]),
    ...repeated(loadBalancers.map(({ name }) => name)).map(
      (name) => `${KEY}: the name "${name}" is given twice: names must differ`,
    ),
    ...repeated(loadBalancers.map(({ primaryVmSet }) => primaryVmSet)).map(
      (vmSet) => `${KEY}: primaryVMSet "${vmSet}" is given twice: a VM set belongs to one load balancer`,
    ),
    ...(isNamed ? [] : [`${KEY}: no item is named "${clusterName}", as the cluster is: add one, or rename one`]),
  ];
}

function repeated(names: readonly string[]): string[] {
  const lower = names.map((name) => name.toLowerCase());
  return names.filter((name, at) => name !== "" && lower.indexOf(name.toLowerCase()) < at);
}

/** One item of the list. Fields match without case. */
class Item {
  readonly path: string;
  readonly errors: string[] = [];
  readonly warnings: string[] = [];
  readonly #values = new Map<string, unknown>();

  constructor(raw: unknown, path: string) {
    this.path = path;
    if (!isRecord(raw)) {
      this.errors.push(`${path} is ${JSON.stringify(raw)}, allowed: an object with ${FIELDS.join(", ")}`);
      return;
    }
    for (const [key, value] of Object.entries(raw)) {
      const isKnown = FIELDS.some((field) => field.toLowerCase() === key.toLowerCase());
      if (!isKnown) this.warnings.push(`unknown field ${path}.${key}: did you mean ${closestMatch(key, FIELDS)}?`);
      if (value !== null && value !== undefined) this.#values.set(key.toLowerCase(), value);
    }
    for (const field of ["name", "primaryVMSet"] as const) {
      if (!this.#values.has(field.toLowerCase())) this.errors.push(`${path}.${field} is missing: give it a value`);
    }
  }

  text(field: Field): string {
    const value = this.#get(field) ?? "";
    if (typeof value === "string" && (value.trim() !== "" || this.#get(field) === undefined)) return value.trim();
    this.#wrong(field, "a text that is not empty");
    return "";
  }

  flag(field: Field, byDefault: boolean): boolean {
    const value = this.#get(field) ?? byDefault;
    if (typeof value === "boolean") return value;
    this.#wrong(field, "true or false");
    return byDefault;
  }

  selector(field: Field): LabelSelector | undefined {
    const value = this.#get(field);
    if (value === undefined) return undefined;
    const { selector, problems } = parseLabelSelector(value);
    this.errors.push(
      ...problems.map((problem) => `${this.path}.${field}${problem.startsWith(".") ? "" : " "}${problem}`),
    );
    return selector;
  }

  #get(field: Field): unknown {
    return this.#values.get(field.toLowerCase());
  }

  #wrong(field: Field, allowed: string): void {
    this.errors.push(`${this.path}.${field} is ${JSON.stringify(this.#get(field))}, allowed: ${allowed}`);
  }
}
