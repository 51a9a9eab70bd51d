/**
 * fast-check, as the laws use it: the same examples in every run, so that what was green stays green until something is
 * changed. `AZLB_SEED=random` draws new ones, `AZLB_SEED=<number>` those of a failure.
 */
import { configureGlobal } from "fast-check";

export * from "fast-check";

const { AZLB_SEED: seed = "2017" } = process.env;
if (seed !== "random") configureGlobal({ seed: Number(seed) });
