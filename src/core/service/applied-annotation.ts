/** The key of the mark that says how far the spec of a Service is applied: what stands in it is `applied-state.ts`. */
export const APPLIED_ANNOTATION = "azlb.io/applied";
