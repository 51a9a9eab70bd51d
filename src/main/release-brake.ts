/**
 * `azlb release-brake`: plans anew, and writes the release only if what is withheld now is what the operator was shown.
 * The release is a ConfigMap in kube-system, so the right to write there is the right to release.
 */
import { RELEASE_PLACE } from "../controller/brake/release-watch.ts";
import { encodeWrites } from "../core/brake/release-text.ts";
import { linesOf } from "../core/brake/withheld-writes.ts";
import { pluralize } from "../core/util/text.ts";
import { isFailure, KubeFailure } from "../kube/client/kube-failure.ts";
import { CONFIG_MAPS } from "../kube/client/resources.ts";
import type { ClusterView } from "./cluster-view.ts";
import { makePlan, type PlanOptions } from "./make-plan.ts";

export interface Released {
  readonly text: string;
  readonly isReleased: boolean;
}

/** `options`: as of the plan that the operator was shown. */
export async function releaseBrake(view: ClusterView, hash: string, options: PlanOptions = {}): Promise<Released> {
  const { withheld } = await makePlan(view, undefined, options);
  const lines = linesOf(withheld);
  if (lines.length === 0) return { text: "Nothing is withheld.\n", isReleased: false };
  if (hash !== withheld.hash) {
    const text = `What is withheld now has the hash ${withheld.hash}, not ${hash}: see azlb plan. Nothing is released.\n`;
    return { text, isReleased: false };
  }
  const writes = encodeWrites(lines);
  if (writes === undefined) {
    const text =
      `${pluralize(lines.length, "write")} are too many for one release. Nothing is released. Let them go by another limit: start ` +
      "the controller with a greater --brake-services or --brake-share.\n";
    return { text, isReleased: false };
  }
  await writeRelease(view, { hash, writes });
  const text =
    `Released: ${pluralize(lines.length, "write")}. The controller takes them within some seconds; what it has not taken ` +
    "in 15 minutes waits again.\n";
  return { text, isReleased: true };
}

/** A former release makes way, so that its age does not count. */
async function writeRelease({ client }: ClusterView, data: Readonly<Record<string, string>>): Promise<void> {
  try {
    await client.delete(CONFIG_MAPS, RELEASE_PLACE).catch((error: unknown) => {
      if (!isFailure(error, "notFound")) throw error;
    });
    await client.create(CONFIG_MAPS, { metadata: { ...RELEASE_PLACE }, data });
  } catch (error) {
    if (!isFailure(error, "forbidden")) throw error;
    const { namespace, name } = RELEASE_PLACE;
    const message = `no right to release: grant create and delete on ConfigMap ${name} in namespace ${namespace}`;
    throw new KubeFailure(error.kind, `${message} (${error.message})`, { status: 403, cause: error });
  }
}
