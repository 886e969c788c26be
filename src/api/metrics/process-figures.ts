/** What the operating system reports about this process, under the names that all Prometheus clients use. */
import { readdir, readFile } from "node:fs/promises";
import type { NumberFamily } from "./families.ts";

export async function readProcessFigures(): Promise<NumberFamily[]> {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const startedSeconds = performance.timeOrigin / 1000;
  const figures: [name: string, help: string, value: number | null][] = [
    ["process_cpu_seconds_total", "CPU time spent.", (user + system) / 1e6],
    ["process_start_time_seconds", "When the process started.", startedSeconds],
    ["process_resident_memory_bytes", "Memory that the process holds.", rss],
    ["process_heap_bytes", "Memory of the program's objects.", heapUsed],
    ["process_open_fds", "Open file descriptors.", await countDescriptors()],
    ["process_max_fds", "Maximum number of open file descriptors.", await readDescriptorLimit()],
  ];
  return figures.flatMap(([name, help, value]) =>
    value === null ? [] : [{ name, help, samples: [{ labels: {}, value }] }],
  );
}

/** Null if the system does not report it, such as outside Linux. */
async function countDescriptors(): Promise<number | null> {
  try {
    // The listing itself opens one.
    return (await readdir("/proc/self/fd")).length - 1;
  } catch {
    return null;
  }
}

async function readDescriptorLimit(): Promise<number | null> {
  try {
    const found = /^Max open files +(\d+)/m.exec(await readFile("/proc/self/limits", "utf8"));
    return found === null ? null : Number(found[1]);
  } catch {
    return null;
  }
}
