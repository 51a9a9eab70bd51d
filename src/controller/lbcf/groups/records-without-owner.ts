/** Deletes records whose group or Bind is gone: the API server may run without a garbage collector. */
import type { KubeClient } from "../../../kube/client/kube-client.ts";
import { unlessGone } from "../../../kube/client/kube-failure.ts";
import { placeOfKey, type KubeObject, type Resource } from "../../../kube/client/resources.ts";
import type { LbcfContext } from "../lbcf-loop.ts";

export interface DeleteContext extends Pick<LbcfContext, "cache" | "writer"> {
  readonly client: KubeClient;
}

/** Reads the owner from the API server before deleting. `known`: the owner in the cache. */
export async function deleteRecordsWithoutOwner(
  { cache, client, writer }: DeleteContext,
  owners: Resource,
  key: string,
  known: KubeObject | undefined,
): Promise<void> {
  const records = cache.records.objects.by("owner", `${owners.kind} ${key}`);
  const ownerless = records.filter(
    ({ metadata }) => metadata.owner?.uid !== known?.metadata.uid && metadata.deletionTimestamp === undefined,
  );
  if (ownerless.length === 0) return;
  const there = await unlessGone(() => client.get<KubeObject>(owners, placeOfKey(key)));
  const gone = ownerless.filter(({ metadata }) => metadata.owner?.uid !== there?.metadata.uid);
  await Promise.all(gone.map((record) => writer.deleteRecord(record)));
}
