/**
 * Label selectors of Kubernetes: read from their JSON form, and matched against labels. A selector without requirements
 * matches everything.
 */
export interface LabelSelector {
  readonly requirements: readonly Requirement[];
}

interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"] as const;
type Operator = (typeof OPERATORS)[number];

type Labels = Readonly<Record<string, string>>;

export function matchesSelector({ requirements }: LabelSelector, labels: Labels = {}): boolean {
  return requirements.every(({ key, operator, values }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    switch (operator) {
      case "In":
        return value !== undefined && values.includes(value);
      case "NotIn":
        return value === undefined || !values.includes(value);
      case "Exists":
        return value !== undefined;
      case "DoesNotExist":
        return value === undefined;
    }
  });
}

/** `problems`: what is wrong, each with the path below the selector, its value and what is allowed. */
export function parseLabelSelector(raw: unknown): { readonly selector: LabelSelector; readonly problems: string[] } {
  const problems: string[] = [];
  const fields = recordOf(raw);
  if (fields === undefined) {
    return {
      selector: { requirements: [] },
      problems: [`is ${show(raw)}, allowed: an object of matchLabels and matchExpressions`],
    };
  }
  for (const key of fields.keys()) {
    if (!["matchlabels", "matchexpressions"].includes(key)) {
      problems.push(`.${key} is not a field of a label selector, allowed: matchLabels, matchExpressions`);
    }
  }
  const requirements = [
    ...parseMatchLabels(fields.get("matchlabels") ?? {}, problems),
    ...parseExpressions(fields.get("matchexpressions") ?? [], problems),
  ];
  return { selector: { requirements }, problems };
}

function parseMatchLabels(raw: unknown, problems: string[]): Requirement[] {
  if (recordOf(raw) === undefined) {
    problems.push(`.matchLabels is ${show(raw)}, allowed: an object of texts`);
    return [];
  }
  return Object.entries(raw as object).flatMap(([key, value]: [string, unknown]) => {
    if (typeof value === "string") return [{ key, operator: "In" as const, values: [value] }];
    problems.push(`.matchLabels.${key} is ${show(value)}, allowed: a text`);
    return [];
  });
}

function parseExpressions(raw: unknown, problems: string[]): Requirement[] {
  if (!Array.isArray(raw)) {
    problems.push(`.matchExpressions is ${show(raw)}, allowed: a list`);
    return [];
  }
  return raw.flatMap((item: unknown, at) => parseExpression(item, `.matchExpressions[${at}]`, problems) ?? []);
}

function parseExpression(raw: unknown, path: string, problems: string[]): Requirement | undefined {
  const fields = recordOf(raw);
  const key = fields?.get("key");
  const operator = OPERATORS.find((one) => one === fields?.get("operator"));
  const values = fields?.get("values") ?? [];
  const isTexts = Array.isArray(values) && values.every((value) => typeof value === "string");
  const needsValues = operator === "In" || operator === "NotIn";
  if (typeof key !== "string" || key === "") problems.push(`${path}.key is ${show(key)}, allowed: the key of a label`);
  else if (operator === undefined)
    problems.push(`${path}.operator is ${show(fields?.get("operator"))}, allowed: ${OPERATORS.join(", ")}`);
  else if (!isTexts || needsValues !== values.length > 0)
    problems.push(
      `${path}.values is ${show(values)}, allowed: ${needsValues ? "a list of texts" : `none, with ${operator}`}`,
    );
  else return { key, operator, values };
  return undefined;
}

/** Fields by their names in lower case, as a Go decoder finds them. */
function recordOf(raw: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return undefined;
  return new Map(Object.entries(raw).map(([key, value]) => [key.toLowerCase(), value]));
}

function show(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value);
}
