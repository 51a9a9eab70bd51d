/**
 * The size of a test that can run for as long as one likes: `npm test` runs the sample, `npm run test:long` the campaign
 * (`test/run.ts` sets AZLB_CAMPAIGNS=long for it).
 */
export function campaign<T>(size: { readonly sample: T; readonly long: T }): T {
  return process.env["AZLB_CAMPAIGNS"] === "long" ? size.long : size.sample;
}
