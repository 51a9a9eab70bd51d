/** Validates DNS labels of public addresses, and that each name has one owner. */
import { invalid } from "../errors.ts";
import { derivedGuid } from "../guid.ts";
import { objectOf, propertiesOf, stringOf, type Json } from "../json.ts";
import type { PutInput } from "../resource-type.ts";
import { siblings } from "./counts.ts";

const LABEL = /^[a-z][a-z0-9-]{1,61}[a-z0-9]$/;

/** The settings with the fqdn; refuses a name that another address has. */
export function dnsForm(input: PutInput, settings: Json): Json {
  const label = stringOf(settings["domainNameLabel"]);
  if (label === undefined) return settings;
  if (!LABEL.test(label)) {
    throw invalid(
      "InvalidDomainNameLabel",
      `The domain name label ${label} is invalid. It must conform to the following regular expression: ${LABEL.source}.`,
    );
  }
  const fqdn = fqdnOf(input, label, stringOf(settings["domainNameLabelScope"]));
  for (const other of siblings(input)) {
    if (objectOf(propertiesOf(other.body)["dnsSettings"])["fqdn"] !== fqdn) continue;
    throw invalid("DnsRecordInUse", `DNS record ${fqdn} is already used by another public IP.`);
  }
  return { ...settings, fqdn };
}

/** The fqdn of a scoped label includes a hash of its scope. */
function fqdnOf(input: PutInput, label: string, scope: string | undefined): string {
  const region = input.location;
  if (scope === undefined) return `${label}.${region}.cloudapp.azure.com`;
  const seed = scope === "NoReuse" ? `${input.id}|${input.sequence}` : `${scope}|${input.id.split("/")[2]}`;
  const hash = derivedGuid(seed).replaceAll("-", "").slice(0, 16);
  return `${label}.${hash}.${region}${region.endsWith("euap") ? ".sysgen" : ""}.cloudapp.azure.com`;
}
