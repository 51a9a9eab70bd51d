/**
 * The webhook that gives new pods the readiness gate, for API servers without MutatingAdmissionPolicies: over TLS, with an operator's
 * certificate. Every process answers, whether it leads or not: it reads the groups and Binds of the pod's namespace for each
 * pod, so that one which was just applied counts. Whatever goes wrong here, the pod is admitted as it is. Which pods get
 * the gate is decided in `core/lbcf/pods/gate-admission.ts`.
 */
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

import { BACKEND_GROUPS, BINDS } from "../controller/lbcf/objects/resources.ts";
import { readBind } from "../core/lbcf/binds/read-bind.ts";
import { readBackendGroup } from "../core/lbcf/groups/read-backend-group.ts";
import type { BackendGroup } from "../core/lbcf/objects/objects.ts";
import { admitted, gatePatch, readPodAdmission } from "../core/lbcf/pods/gate-admission.ts";
import type { Clock } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import { errorText } from "../core/util/text.ts";
import type { KubeReader } from "../kube/client/kube-client.ts";
import type { KubeObject } from "../kube/client/resources.ts";
import { type CertificateFiles, readKeys, watchCertificate } from "./certificate-files.ts";

export interface GateWebhookOptions {
  readonly host: string;
  /** `0`: any free one. */
  readonly port: number;
  readonly certificate: CertificateFiles;
}

interface GateWebhookParts {
  readonly kube: KubeReader;
  readonly clock: Clock;
  readonly log: Log;
}

interface RunningGateWebhook {
  readonly url: string;
  close(): Promise<void>;
}

/** Of the path; the rest of the address is the operator's. */
const PATH = "/readiness-gate";
/** A pod has a megabyte and a half at most. */
const LONGEST_BODY = 4 << 20;
/** Each reads from the API server: beyond that a pod is admitted as it is. */
const MOST_AT_A_TIME = 64;
const LIMITS = { requestTimeout: 5_000, headersTimeout: 5_000, maxHeaderSize: 16_384 };
/** Less than the API server waits (2 s in the manifests). */
const READ_WITHIN_MS = 1_500;

export async function startGateWebhook(
  { host, port, certificate: files }: GateWebhookOptions,
  { kube, clock, log }: GateWebhookParts,
): Promise<RunningGateWebhook> {
  const keys = await readKeys(files);
  let running = 0;
  const server = createServer({ ...LIMITS, ...keys, minVersion: "TLSv1.2" }, (request, response) => {
    if (request.method !== "POST" || request.url?.split("?")[0] !== PATH) return void response.writeHead(404).end();
    running += 1;
    void answer(request, kube, running > MOST_AT_A_TIME)
      .then((review) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(review)))
      .catch((error: unknown) => {
        log.warn(`a pod is admitted without the readiness gate: ${errorText(error)}`);
        response.writeHead(500).end();
      })
      .finally(() => (running -= 1));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const onRenewed: Parameters<typeof watchCertificate>[0]["onRenewed"] = (renewed) =>
    server.setSecureContext({ ...renewed, minVersion: "TLSv1.2" });
  const renewal = watchCertificate({ what: "the gate's webhook", files, inForce: keys, onRenewed, clock, log });
  return {
    url: `https://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}${PATH}`,
    close: () =>
      new Promise((resolve) => {
        renewal.cancel();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, kube: KubeReader, isBusy: boolean): Promise<object> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LONGEST_BODY) throw new Error("the review is too long");
    chunks.push(chunk);
  }
  const admission = readPodAdmission(JSON.parse(Buffer.concat(chunks).toString()));
  if (admission === undefined) throw new Error("that is no AdmissionReview of a new pod");
  const { uid, namespace, pod } = admission;
  if (isBusy) throw new Error(`${MOST_AT_A_TIME} pods are being admitted already`);
  const patch = gatePatch(pod, await groupsOf(kube, namespace));
  return admitted(uid, patch, (text) => Buffer.from(text).toString("base64"));
}

async function groupsOf(kube: KubeReader, namespace: string): Promise<readonly BackendGroup[]> {
  const signal = AbortSignal.timeout(READ_WITHIN_MS);
  const [groups, binds] = await Promise.all([
    kube.list<KubeObject>(BACKEND_GROUPS, { namespace }, signal),
    kube.list<KubeObject>(BINDS, { namespace }, signal),
  ]);
  return [...groups.items.map(readBackendGroup), ...binds.items.map((bind) => readBind(bind).group)];
}
