/** The availability zones of a region, out of the description that the compute provider gives of itself. */
import { field, textField } from "./error-body.ts";

/** Empty where the region has none, or none that this subscription may use. */
export function zonesOf(provider: unknown, location: string): readonly string[] {
  const machines = listOf(provider, "resourceTypes").find(
    (type) => textField(type, "resourceType")?.toLowerCase() === "virtualmachines",
  );
  const mapping = listOf(machines, "zoneMappings").find((one) => plain(textField(one, "location")) === plain(location));
  return listOf(mapping, "zones")
    .filter((zone): zone is string => typeof zone === "string")
    .sort();
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = field(value, name);
  return Array.isArray(list) ? list : [];
}

/** `West US 2` and `westus2` are one region. */
function plain(location: string | undefined): string {
  return (location ?? "").toLowerCase().replaceAll(" ", "");
}
