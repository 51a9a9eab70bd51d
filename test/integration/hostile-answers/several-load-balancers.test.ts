import { BROKEN_TEXTS, WRONG_ARM, WRONG_POOLS, WRONG_SLICES } from "../../support/invalid-answers.ts";
import { SEVERAL } from "./clusters.ts";
import { hostileAnswersSuite } from "./suite.ts";

hostileAnswersSuite("azure", { ...BROKEN_TEXTS, ...WRONG_ARM, ...WRONG_POOLS }, SEVERAL);
hostileAnswersSuite("kubernetes", WRONG_SLICES, SEVERAL);
