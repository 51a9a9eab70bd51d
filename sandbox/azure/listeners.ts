/**
 * Opens the listeners of an emulated Azure: Resource Manager over HTTPS and HTTP, the control endpoint, and the machines'
 * instance metadata.
 */
import type { CertificateAuthority } from "../shared/certificate-authority.ts";
import type { DataDirectory } from "../shared/data-directory.ts";
import { portAllocator } from "../shared/port-allocator.ts";
import type { Parts } from "./assemble.ts";
import { controlAnswer } from "./control/control-endpoint.ts";
import { metadataAnswer } from "./metadata/metadata-endpoint.ts";
import type { AzureOptions } from "./options.ts";
import { listen, type Listening } from "./server/listener.ts";
import { armAnswer } from "./server/pipeline.ts";

/** Azure's own: 4 MB. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** A seed may be large. */
const MAX_CONTROL_BODY_BYTES = 256 * 1024 * 1024;

type ListenerName = "arm" | "plain" | "control" | "metadata";

export async function openListeners(
  options: AzureOptions,
  directory: DataDirectory,
  authority: CertificateAuthority,
  parts: Parts,
): Promise<Record<ListenerName, Listening>> {
  const log = options.log ?? (() => {});
  const common = {
    maxBodyBytes: options.maxBodyBytes ?? MAX_BODY_BYTES,
    onError: (error: unknown) => log(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  };
  const certificate = await authority.issueServer();
  const answer = armAnswer(parts.pipeline);
  const control = controlAnswer({
    ...parts.pipeline,
    settings: parts.settings,
    dataPlane: parts.dataPlane,
    events: parts.events,
    machines: parts.machines,
    seed: parts.seed,
    about: () => parts.about(),
  });
  const metadata = metadataAnswer({
    ...parts.pipeline,
    account: parts.account,
    events: parts.events,
    machines: parts.machines,
  });
  const ports = portAllocator(directory);
  const opened: Listening[] = [];
  const open = async (name: ListenerName, asked: number | undefined, serve: (port: number) => Promise<Listening>) => {
    const listening = await ports.listen(name, asked, serve);
    opened.push(listening);
    return listening;
  };
  try {
    return {
      arm: await open("arm", options.port, (port) => listen(answer, { ...common, port, certificate })),
      plain: await open("plain", options.httpPort, (port) => listen(answer, { ...common, port })),
      control: await open("control", options.controlPort, (port) =>
        listen(control, { ...common, port, maxBodyBytes: MAX_CONTROL_BODY_BYTES }),
      ),
      metadata: await open("metadata", options.metadataPort, (port) => listen(metadata, { ...common, port })),
    };
  } catch (error) {
    await Promise.all(opened.map((listening) => listening.close()));
    throw error;
  }
}
