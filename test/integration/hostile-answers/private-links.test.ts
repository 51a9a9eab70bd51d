import { BROKEN_TEXTS, WRONG_ARM, WRONG_LINKS } from "../../support/invalid-answers.ts";
import { LINKED } from "./clusters.ts";
import { hostileAnswersSuite } from "./suite.ts";

hostileAnswersSuite("azure", { ...BROKEN_TEXTS, ...WRONG_ARM, ...WRONG_LINKS }, LINKED);
