/** What a PromQL query reads, by Prometheus' own grammar: metrics, and labels that are selected or grouped by. */
import { parser } from "@prometheus-io/lezer-promql";

export interface QueryParts {
  readonly metrics: readonly string[];
  readonly labels: readonly string[];
}

/** Throws where the query is no PromQL. */
export function partsOf(query: string): QueryParts {
  const metrics = new Set<string>();
  const labels = new Set<string>();
  parser.parse(query).iterate({
    enter: (node) => {
      const text = query.slice(node.from, node.to);
      if (node.type.isError) throw new Error(`${query}: not understood at "${query.slice(node.from)}"`);
      if (node.name === "Identifier" && node.node.parent?.name === "VectorSelector") metrics.add(text);
      if (node.name === "LabelName") labels.add(text);
    },
  });
  return { metrics: [...metrics], labels: [...labels] };
}
