/** Messages shared by the kinds. Field numbers are those of Kubernetes' published `.proto` files. */
import { integer, list, map, one, sentFlag, sentInteger, sentText, text, time, type Message } from "./message.ts";

const OWNER_REFERENCE: Message = {
  1: ["kind", text],
  3: ["name", text],
  4: ["uid", text],
  5: ["apiVersion", text],
  6: ["controller", sentFlag],
  7: ["blockOwnerDeletion", sentFlag],
};

/** Without `managedFields`, which are not kept here. */
export const OBJECT_META: Message = {
  1: ["name", text],
  2: ["generateName", text],
  3: ["namespace", text],
  5: ["uid", text],
  6: ["resourceVersion", text],
  7: ["generation", integer],
  8: ["creationTimestamp", time],
  9: ["deletionTimestamp", time],
  10: ["deletionGracePeriodSeconds", sentInteger],
  11: ["labels", map(sentText)],
  12: ["annotations", map(sentText)],
  13: ["ownerReferences", list(one(OWNER_REFERENCE))],
  14: ["finalizers", list(sentText)],
};

export const OBJECT_REFERENCE: Message = {
  1: ["kind", text],
  2: ["namespace", text],
  3: ["name", text],
  4: ["uid", text],
  5: ["apiVersion", text],
  6: ["resourceVersion", text],
  7: ["fieldPath", text],
};

const PRECONDITIONS: Message = { 1: ["uid", sentText], 2: ["resourceVersion", sentText] };

export const DELETE_OPTIONS: Message = {
  1: ["gracePeriodSeconds", sentInteger],
  2: ["preconditions", one(PRECONDITIONS)],
  3: ["orphanDependents", sentFlag],
  4: ["propagationPolicy", sentText],
  5: ["dryRun", list(sentText)],
};
