/**
 * What will be seen after these steps, if no other client writes meanwhile: the merges that the writers will do, done on
 * a copy. Lets a plan show the rounds that follow the first, and tests run whole histories without any Azure.
 */
import type { Service } from "../model/kubernetes.ts";
import type { Observed } from "../observed.ts";
import { APPLIED_ANNOTATION } from "../service/applied-state.ts";
import { CLASS_ANNOTATION, FINALIZER } from "../intent/ownership.ts";
import { isAzureStep } from "../service/rounds.ts";
import type { ServiceStep, Step } from "../steps.ts";
import { afterWrites, byResource } from "./merged-writes.ts";

export function predict(observed: Observed, steps: readonly Step[]): Observed {
  const service = steps.reduce(
    (seen, step) => (isAzureStep(step) ? seen : afterServiceStep(observed, seen, step)),
    observed.service,
  );
  const azure = afterWrites(observed, byResource(steps.filter(isAzureStep)));
  return { ...observed, ...azure, members: afterRecords(observed.members, steps), service };
}

function afterRecords(members: Observed["members"], steps: readonly Step[]): Observed["members"] {
  const recording = steps.filter((step) => step.kind === "loadBalancer" && step.fragment.records !== undefined);
  if (recording.length === 0) return members;
  const after = new Map(members);
  for (const step of recording) {
    if (step.kind !== "loadBalancer") continue;
    const id = step.id.toLowerCase();
    after.set(id, [...new Set([...(after.get(id) ?? []), ...(step.fragment.records ?? [])])]);
  }
  return after;
}

function afterServiceStep({ classFilter }: Observed, service: Service, step: ServiceStep): Service {
  const { metadata } = service;
  switch (step.kind) {
    case "addFinalizer": {
      const annotations = {
        ...metadata.annotations,
        ...(classFilter !== undefined && { [CLASS_ANNOTATION]: classFilter }),
      };
      return {
        ...service,
        metadata: { ...metadata, annotations, finalizers: [...(metadata.finalizers ?? []), FINALIZER] },
      };
    }
    case "removeFinalizer": {
      const finalizers = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
      return { ...service, metadata: { ...metadata, finalizers } };
    }
    case "updateStatus": {
      const { [APPLIED_ANNOTATION]: _, ...others } = metadata.annotations ?? {};
      const annotations = { ...others, ...(step.applied !== undefined && { [APPLIED_ANNOTATION]: step.applied }) };
      return {
        ...service,
        metadata: { ...metadata, annotations },
        status: { loadBalancer: { ingress: step.ingress } },
      };
    }
  }
}
