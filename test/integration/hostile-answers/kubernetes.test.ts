import { BROKEN_TEXTS, WRONG_KUBERNETES } from "../../support/invalid-answers.ts";
import { hostileAnswersSuite } from "./suite.ts";

hostileAnswersSuite("kubernetes", { ...BROKEN_TEXTS, ...WRONG_KUBERNETES });
