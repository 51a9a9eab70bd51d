/**
 * The size of a test that can run for as long as one likes: `npm test` runs the sample, `npm run test:long` the campaign,
 * and `.ci/run` what `ci` says, which is the campaign where that ends within minutes (`test/run.ts` sets AZLB_CAMPAIGNS).
 */
export function campaign<T>(size: { readonly sample: T; readonly ci?: T; readonly long: T }): T {
  const { sample, long, ci = long } = size;
  const chosen = process.env["AZLB_CAMPAIGNS"];
  return chosen === "long" ? long : chosen === "ci" ? ci : sample;
}
