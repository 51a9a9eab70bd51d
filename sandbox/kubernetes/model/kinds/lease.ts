/** Leases, for leader election and node heartbeats. Their times need six fractional digits (see `microTime`). */
import { asString } from "../json.ts";
import { ageColumn, column, nameColumn } from "../read/column.ts";
import { part } from "../resource.ts";
import { integer, microTime, optionalText, struct } from "../schema/schema.ts";
import { type Cause, invalidValue } from "../status-error.ts";
import { defineKind } from "./define.ts";

export const lease = defineKind({
  group: "coordination.k8s.io",
  kind: "Lease",
  plural: "leases",
  unconditionalUpdate: false,
  fields: {
    spec: struct({
      holderIdentity: optionalText,
      leaseDurationSeconds: integer,
      acquireTime: microTime,
      renewTime: microTime,
      leaseTransitions: integer,
      strategy: optionalText,
      preferredHolder: optionalText,
    }),
  },
  columns: [nameColumn, column("Holder", (object) => asString(part(object, "spec")["holderIdentity"])), ageColumn],
  behaviour: {
    validate: (object) => {
      const spec = part(object, "spec");
      const causes: Cause[] = [];
      const lasts = spec["leaseDurationSeconds"];
      if (typeof lasts === "number" && lasts <= 0) {
        causes.push(invalidValue("spec.leaseDurationSeconds", lasts, "must be greater than 0"));
      }
      const transitions = spec["leaseTransitions"];
      if (typeof transitions === "number" && transitions < 0) {
        causes.push(invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
      }
      return causes;
    },
  },
});
