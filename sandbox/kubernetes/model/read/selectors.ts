/** Parses label and field selectors of lists and watches. */
import type { KubeObject } from "../contract.ts";
import { scalarText, valueAt } from "../json.ts";
import type { Resource } from "../resource.ts";
import { badRequest } from "../status-error.ts";

export type Matcher = (object: KubeObject) => boolean;

interface Requirement {
  readonly key: string;
  readonly operator: "in" | "notin" | "exists" | "absent" | "above" | "below";
  readonly values: readonly string[];
}

/** Matches both selectors; undefined when there is neither. */
export function parseSelectors(resource: Resource, query: Readonly<Record<string, string>>): Matcher | undefined {
  const labels = query["labelSelector"] ?? "";
  const fields = query["fieldSelector"] ?? "";
  if (labels === "" && fields === "") return undefined;
  const requirements = parseLabelSelector(labels);
  const terms = parseFieldSelector(fields, resource);
  return (object) => requirements.every((item) => meets(object, item)) && terms.every((term) => holds(object, term));
}

/** The objects of a namespace (or of all) that the query selects. */
export function parseMatcher(
  resource: Resource,
  namespace: string | undefined,
  query: Readonly<Record<string, string>>,
): { matches: Matcher; selected: boolean } {
  const selectors = parseSelectors(resource, query);
  return {
    matches: (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) && (selectors?.(object) ?? true),
    selected: selectors !== undefined,
  };
}

const KEY = "[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?";
const SET = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const COMPARED = new RegExp(`^(${KEY})\\s*(==|=|!=|<|>)\\s*([-A-Za-z0-9_.]*)$`);
const PRESENT = new RegExp(`^(!?)\\s*(${KEY})$`);

function parseLabelSelector(selector: string): Requirement[] {
  return splitOutsideParentheses(selector).map((text) => {
    const set = SET.exec(text);
    if (set) {
      const values = (set[3] ?? "").split(",").map((value) => value.trim());
      return { key: set[1] ?? "", operator: set[2] === "in" ? "in" : "notin", values };
    }
    const compared = COMPARED.exec(text);
    if (compared) return comparison(compared[1] ?? "", compared[2] ?? "", compared[3] ?? "");
    const present = PRESENT.exec(text);
    if (present) return { key: present[2] ?? "", operator: present[1] === "!" ? "absent" : "exists", values: [] };
    throw badRequest(`unable to parse requirement: found '${text}'`);
  });
}

function comparison(key: string, sign: string, value: string): Requirement {
  if (sign === "!=") return { key, operator: "notin", values: [value] };
  if (sign === "<" || sign === ">") {
    if (!/^-?\d+$/.test(value)) throw badRequest(`for '<' and '>' the value must be an integer: found '${value}'`);
    return { key, operator: sign === "<" ? "below" : "above", values: [value] };
  }
  return { key, operator: "in", values: [value] };
}

function splitOutsideParentheses(selector: string): string[] {
  const parts = selector.split(/,(?![^(]*\))/).map((part) => part.trim());
  return parts.filter((part) => part !== "");
}

function meets(object: KubeObject, { key, operator, values }: Requirement): boolean {
  const value = object.metadata.labels?.[key];
  switch (operator) {
    case "in":
      return value !== undefined && values.includes(value);
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "absent":
      return value === undefined;
    case "above":
      return value !== undefined && /^-?\d+$/.test(value) && Number(value) > Number(values[0]);
    case "below":
      return value !== undefined && /^-?\d+$/.test(value) && Number(value) < Number(values[0]);
  }
}

interface FieldTerm {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
  /** Path of the field in the stored form. */
  readonly path: string;
}

function parseFieldSelector(selector: string, resource: Resource): FieldTerm[] {
  const terms = selector.split(/(?<!\\),/).filter((term) => term.trim() !== "");
  return terms.map((term) => {
    const match = /^([^=!]+)(==|=|!=)(.*)$/s.exec(term.trim());
    if (!match) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
    const field = (match[1] ?? "").trim();
    const general = field === "metadata.name" || (field === "metadata.namespace" && resource.namespaced);
    if (!general && !resource.selectableFields.includes(field)) {
      throw badRequest(`field label not supported: ${field}`);
    }
    const value = (match[3] ?? "").replaceAll(/\\([,=\\])/g, "$1");
    return { field, equal: match[2] !== "!=", value, path: storedPath(field) };
  });
}

/** Maps field names of events.k8s.io/v1 to the stored core/v1 names. */
function storedPath(field: string): string {
  if (field === "source") return "source.component";
  if (field === "reportingController") return "reportingComponent";
  return field.replace(/^regarding\./, "involvedObject.");
}

function holds(object: KubeObject, term: FieldTerm): boolean {
  const found = valueAt(object, term.path);
  const text = found === undefined || found === null ? absent(term.path) : scalarText(found);
  return (text === term.value) === term.equal;
}

/** The value of an absent field: `false` for booleans, empty otherwise. */
function absent(path: string): string {
  return path === "spec.unschedulable" || path === "spec.hostNetwork" ? "false" : "";
}
