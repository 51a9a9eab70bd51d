/** Memory and processor time of another process, as Linux reports them in `/proc`. */
import { readFileSync } from "node:fs";

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** Resident memory. */
export function rssMb(pid: number): number {
  return megabytes(pid, /VmRSS:\s+(\d+) kB/);
}

/** The most that it was since the process started. */
export function peakRssMb(pid: number): number {
  return megabytes(pid, /VmHWM:\s+(\d+) kB/);
}

function megabytes(pid: number, line: RegExp): number {
  return Number(line.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** User and system time since the process started. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
