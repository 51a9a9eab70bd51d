/** The log, as it is handed in. `src/main/stderr-log.ts` prints it; tests collect or drop it. */

export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const SILENT_LOG: Log = { info: () => {}, warn: () => {}, error: () => {} };
