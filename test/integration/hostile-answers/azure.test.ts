import { BROKEN_TEXTS, WRONG_ARM } from "../../support/invalid-answers.ts";
import { hostileAnswersSuite } from "./suite.ts";

hostileAnswersSuite("azure", { ...BROKEN_TEXTS, ...WRONG_ARM });
