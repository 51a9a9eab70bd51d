/** Label selectors as objects have them (`matchLabels`, `matchExpressions`): what they match, and as one line of text. */
import type { JsonObject } from "../contract.ts";
import { asArray, asObject, asString } from "../json.ts";

/** An absent selector matches nothing, an empty one everything. */
export function matchesSelector(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  if (selector === undefined || selector === null) return false;
  const { matchLabels, matchExpressions } = asObject(selector);
  return (
    Object.entries(asObject(matchLabels)).every(([key, value]) => labels[key] === value) &&
    asArray(matchExpressions).every((expression) => matches(asObject(expression), labels))
  );
}

function matches({ key, operator, values }: JsonObject, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[asString(key)];
  const given = asArray(values);
  if (operator === "In") return value !== undefined && given.includes(value);
  if (operator === "NotIn") return value === undefined || !given.includes(value);
  return operator === "Exists" ? value !== undefined : operator === "DoesNotExist" && value === undefined;
}

const OPERATORS: Readonly<Record<string, (key: string, values: string) => string>> = {
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
};

/** As `kubectl get -l` takes it; sorted by key. Empty and absent selectors are `<none>`. */
export function selectorText(selector: unknown): string {
  const { matchLabels, matchExpressions } = asObject(selector);
  const labels = Object.entries(asObject(matchLabels)).map(
    ([key, value]) => [key, `${key}=${asString(value)}`] as const,
  );
  const expressions = asArray(matchExpressions).map((item) => {
    const { key, operator, values } = asObject(item);
    const text =
      OPERATORS[asString(operator)]?.(asString(key), asArray(values).map(asString).toSorted().join(",")) ?? "";
    return [asString(key), text] as const;
  });
  const terms = [...labels, ...expressions].toSorted(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  return terms.length === 0 ? "<none>" : terms.map(([, text]) => text).join(",");
}
