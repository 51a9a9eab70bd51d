/** A server's certificate and key in files of the operator's, which are looked at again for renewed ones. */
import { readFile } from "node:fs/promises";

import type { KeyPair } from "../api/certificate.ts";
import type { Clock, Timer } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import { errorText } from "../core/util/text.ts";

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

interface Watching {
  /** Whose certificate it is, in messages. */
  readonly what: string;
  readonly files: CertificateFiles;
  readonly inForce: KeyPair;
  readonly onRenewed: (keys: KeyPair) => void;
  readonly clock: Clock;
  readonly log: Log;
}

const RENEWED_MS = 60_000;

export async function readKeys({ certFile, keyFile }: CertificateFiles): Promise<KeyPair> {
  const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
  return { cert, key };
}

/** A pair that does not fit, as in the middle of a renewal, is left for the next look. */
export function watchCertificate({ what, files, inForce, onRenewed, clock, log }: Watching): Timer {
  let timer: Timer;
  let known = inForce;
  const look = async (): Promise<void> => {
    try {
      const keys = await readKeys(files);
      if (keys.cert !== known.cert || keys.key !== known.key) {
        onRenewed(keys);
        known = keys;
        log.info(`${what} has a renewed certificate`);
      }
    } catch (error) {
      log.warn(`the certificate of ${what} in ${files.certFile} is not in force: ${errorText(error)}`);
    }
    timer = clock.setTimer(RENEWED_MS, () => void look());
  };
  timer = clock.setTimer(RENEWED_MS, () => void look());
  return { cancel: () => timer.cancel() };
}
