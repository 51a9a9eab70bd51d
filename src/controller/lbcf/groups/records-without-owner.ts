/** Records whose group or Bind is gone: they are deleted here, since nobody else does where no garbage collector runs. */
import type { KubeClient } from "../../../kube/client/kube-client.ts";
import { unlessGone } from "../../../kube/client/kube-failure.ts";
import { placeOfKey, type KubeObject, type Resource } from "../../../kube/client/resources.ts";
import type { LbcfContext } from "../lbcf-loop.ts";

export interface DeleteContext extends Pick<LbcfContext, "cache" | "writer"> {
  readonly client: KubeClient;
}

/** Only the API server's own word that the owner is gone (or another) counts. `known`: the owner that we know. */
export async function deleteRecordsWithoutOwner(
  { cache, client, writer }: DeleteContext,
  owners: Resource,
  key: string,
  known: KubeObject | undefined,
): Promise<void> {
  const records = cache.records.book.by("owner", `${owners.kind} ${key}`);
  const orphans = records.filter(
    ({ metadata }) => metadata.owner?.uid !== known?.metadata.uid && metadata.deletionTimestamp === undefined,
  );
  if (orphans.length === 0) return;
  const there = await unlessGone(() => client.get<KubeObject>(owners, placeOfKey(key)));
  const gone = orphans.filter(({ metadata }) => metadata.owner?.uid !== there?.metadata.uid);
  await Promise.all(gone.map((record) => writer.deleteRecord(record)));
}
