/** Every history of the matrix. */
import { BACKEND_SCENARIOS } from "./backends.ts";
import { NODE_SCENARIOS } from "./nodes.ts";
import type { CrashScenario } from "./scenario.ts";
import { SERVICE_SCENARIOS } from "./services.ts";
import { SEVERAL_SCENARIOS } from "./several.ts";
import { SHAPE_SCENARIOS } from "./shapes.ts";

export const SCENARIOS: readonly CrashScenario[] = [
  ...SERVICE_SCENARIOS,
  ...NODE_SCENARIOS,
  ...SHAPE_SCENARIOS,
  ...SEVERAL_SCENARIOS,
  ...BACKEND_SCENARIOS,
];
