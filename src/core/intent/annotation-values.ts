/**
 * The kinds of value that an annotation may hold: what may be written, and what it reads as. A value that is wrong but
 * harmless (the incumbent took it for something) reads with a `remark`; one that cannot be honoured is a `problem`.
 * Both are ends of sentences that begin with the key and the value.
 */
import { formatAddress, parseAddress } from "../util/cidr.ts";
import type { Family } from "../model/arm.ts";
import { isResourceGroupName, isResourceName, parseId } from "../model/ids.ts";

type Reading<Value> =
  | { readonly value: Value; readonly remark?: string }
  | { readonly value?: undefined; readonly problem: string };

export interface ValueKind<Value> {
  /** What may be written, for the docs and for messages. */
  readonly allowed: string;
  readonly read: (text: string) => Reading<Value>;
}

/** On only for `true` in any case, not trimmed: ` true` has always been off, and turning it on would be a surprise. */
export const flag: ValueKind<boolean> = {
  allowed: "`true`, `false`",
  read: (text) => {
    const isOn = text.toLowerCase() === "true";
    if (isOn || text === "" || text.toLowerCase() === "false") return { value: isOn };
    return { value: false, remark: "is taken as false; allowed: true, false" };
  },
};

/** As `flag`, but trimmed, as the incumbent reads the keys of private link services. */
export const trimmedFlag: ValueKind<boolean> = { allowed: flag.allowed, read: (text) => flag.read(text.trim()) };

/** Decides who can reach a Service: trimmed, and a value that is not understood is refused instead of guessed. */
export const exposureFlag: ValueKind<boolean> = {
  allowed: "`true`, `false`",
  read: (text) => {
    const value = text.trim().toLowerCase();
    if (value === "true" || value === "false" || value === "") return { value: value === "true" };
    return { problem: "decides who can reach the Service and is neither true nor false: write one of them" };
  },
};

/** Blank is as good as absent. */
export const text: ValueKind<string | undefined> = {
  allowed: "text",
  read: (written) => ({ value: written.trim() === "" ? undefined : written.trim() }),
};

export const subnetName: ValueKind<string | undefined> = {
  allowed: "name of a subnet",
  read: (written) => named(written, isResourceName, "is no name of a subnet: letters, digits, `_`, `.` and `-`"),
};

export const resourceName: ValueKind<string | undefined> = {
  allowed: "name of an Azure resource",
  read: (written) =>
    named(
      written,
      isResourceName,
      "is no name of an Azure resource: 1 to 80 letters, digits, `_`, `.` and `-`, a letter or digit first",
    ),
};

export const resourceGroupName: ValueKind<string | undefined> = {
  allowed: "name of a resource group",
  read: (written) =>
    named(written, isResourceGroupName, "is no name of a resource group: letters, digits, `_`, `(`, `)`, `.` and `-`"),
};

/** Blank is as good as absent. */
function named(written: string, isName: (name: string) => boolean, problem: string): Reading<string | undefined> {
  const name = written.trim();
  if (name === "") return { value: undefined };
  return isName(name) ? { value: name } : { problem };
}

export function integer(least: number, most: number = 2 ** 31 - 1): ValueKind<number> {
  const isOpen = most === 2 ** 31 - 1;
  const range = isOpen ? `of ${least} or more` : `from ${least} to ${most}`;
  return {
    allowed: `whole number, ${isOpen ? `${least} or more` : `${least} to ${most}`}`,
    read: (written) => {
      const value = /^[+-]?\d+$/.test(written.trim()) ? Number(written) : Number.NaN;
      return value >= least && value <= most ? { value } : { problem: `is not a whole number ${range}` };
    },
  };
}

/** `choices` in any case, trimmed. `otherwise` is what the rest has always been taken for; without it they are wrong. */
export function choice<Choice extends string>(choices: readonly Choice[], otherwise?: Choice): ValueKind<Choice> {
  const allowed = choices.join(", ");
  return {
    allowed: choices.map((choice) => `\`${choice}\``).join(", "),
    read: (written) => {
      const value = choices.find((choice) => choice.toLowerCase() === written.trim().toLowerCase());
      if (value !== undefined) return { value };
      if (otherwise === undefined) return { problem: `is none of ${allowed}` };
      return { value: otherwise, remark: `is taken as ${otherwise}; allowed: ${allowed}` };
    },
  };
}

/** Items between commas, trimmed; blank ones are kept, since whether they mean anything differs by key. */
export function list(what: string): ValueKind<readonly string[]> {
  return {
    allowed: `${what}, between commas`,
    read: (written) => ({ value: written.split(",").map((item) => item.trim()) }),
  };
}

/** Items between blanks, each once, in the order in which they are written. */
function words(
  allowed: string,
  problem: string,
  item: (text: string) => string | undefined,
): ValueKind<readonly string[]> {
  return {
    allowed: `${allowed}, between blanks`,
    read: (written) => {
      const texts = written.split(/\s+/).filter((text) => text !== "");
      const wrong = texts.filter((text) => item(text) === undefined);
      if (wrong.length > 0) return { problem: `${problem}: ${wrong.map((text) => `"${text}"`).join(", ")}` };
      return { value: [...new Set(texts.flatMap((text) => item(text) ?? []))] };
    },
  };
}

export const ipv4Addresses = words("IPv4 addresses", "has what is no IPv4 address", (text) => {
  const parsed = parseAddress(text);
  return parsed?.family === "IPv4" ? formatAddress(parsed) : undefined;
});

export const domainNames = words("domain names", "has what is no domain name", (text) => {
  const label = "[a-z\\d_](?:[a-z\\d_-]{0,61}[a-z\\d_])?";
  const isName = text.length <= 253 && new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*\\.?$`, "i").test(text);
  return isName ? text : undefined;
});

/** `*` stands for all, so nothing else is of interest beside it. */
export const subscriptionIds: ValueKind<readonly string[]> = {
  allowed: "ids of subscriptions, between blanks, or `*` for all",
  read: (written) => {
    const reading = SUBSCRIPTIONS.read(written);
    return reading.value?.includes("*") ? { value: ["*"] } : reading;
  },
};

const SUBSCRIPTIONS = words("", "has what is neither the id of a subscription nor *", (text) =>
  text === "*" || /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text) ? text : undefined,
);

/** Blank is as good as absent. */
export function address(family: Family): ValueKind<string | undefined> {
  return {
    allowed: `an ${family} address`,
    read: (written) => {
      const parsed = parseAddress(written.trim());
      if (written.trim() === "") return { value: undefined };
      return parsed?.family === family ? { value: formatAddress(parsed) } : { problem: `is no ${family} address` };
    },
  };
}

export const addresses: ValueKind<readonly string[]> = {
  allowed: "addresses, between commas",
  read: (written) => {
    const items = written.split(",").map((item) => item.trim());
    const parsed = items.map((item) => parseAddress(item));
    const wrong = items.filter((_, at) => parsed[at] === undefined);
    if (wrong.length > 0) return { problem: `has what is no address: ${wrong.map((item) => `"${item}"`).join(", ")}` };
    return { value: parsed.flatMap((address) => (address === undefined ? [] : [formatAddress(address)])) };
  },
};

export const prefixId: ValueKind<string | undefined> = {
  allowed: "resource id of a public IP prefix",
  read: (written) => {
    const id = written.trim();
    if (id === "") return { value: undefined };
    const { type = "", resourceGroup = "", name = "" } = parseId(id) ?? {};
    const isPrefix = type.toLowerCase() === "publicipprefixes";
    if (isPrefix && isResourceName(name) && isResourceGroupName(resourceGroup)) return { value: id };
    return {
      problem: "is no id like /subscriptions/…/resourceGroups/…/providers/Microsoft.Network/publicIPPrefixes/…",
    };
  },
};

/** Empty removes it. */
export const gatewayFrontendId: ValueKind<string> = {
  allowed: "resource id of a frontend of a gateway load balancer; empty removes it",
  read: (written) => {
    const id = written.trim();
    if (id === "") return { value: id };
    const { type = "", resourceGroup = "", names = [] } = parseId(id) ?? {};
    const isFrontend = type.toLowerCase() === "loadbalancers/frontendipconfigurations";
    if (isFrontend && names.every(isResourceName) && isResourceGroupName(resourceGroup)) return { value: id };
    const isWhole = type.toLowerCase() === "loadbalancers";
    return {
      problem: isWhole
        ? "is the id of a load balancer: add /frontendIPConfigurations/ and the name of its frontend"
        : "is no id like /subscriptions/…/resourceGroups/…/providers/Microsoft.Network/loadBalancers/…/frontendIPConfigurations/…",
    };
  },
};

/** What Azure accepts as a label; empty removes the label. */
export const dnsLabel: ValueKind<string> = {
  allowed: "3 to 63 lower-case letters, digits and dashes, a letter first; empty removes it",
  read: (written) => {
    const label = written.trim();
    if (label === "" || /^[a-z][a-z\d-]{1,61}[a-z\d]$/.test(label)) return { value: label };
    return { problem: "is no DNS label: 3 to 63 lower-case letters, digits and dashes, a letter first, no dash last" };
  },
};
