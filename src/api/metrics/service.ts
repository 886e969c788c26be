/** All metrics of the server, as the text of one scrape. */
import { readdir, readFile } from "node:fs/promises";
import type { Services } from "../../core/dependencies.ts";
import { describeMeasurements, type Family, type HistogramFamily, type NumberFamily } from "./families.ts";

export async function renderMetrics({
  measurements,
}: Pick<Services, "measurements">): Promise<{ contentType: string; text: string }> {
  return await renderFamilies([...(await describeMeasurements(measurements)), ...(await readProcessFigures())]);
}

/** Renders metric families as the text that Prometheus scrapes. */
async function renderFamilies(families: readonly Family[]): Promise<{ contentType: string; text: string }> {
  // Imported on the first scrape, so that servers without one start faster.
  const { Counter, Gauge, Histogram, Registry } = await import("prom-client");

  /** The values are counted elsewhere, as plain numbers; here they are only reported. */
  class CountedHistogram extends Histogram {
    readonly #family: HistogramFamily;

    constructor(family: HistogramFamily) {
      const { name, help } = family;
      super({ name, help, labelNames: Object.keys(family.series[0]?.labels ?? {}), registers: [] });
      this.#family = family;
    }

    /** The method that the registry calls; it is missing in the library's types. */
    async getForPromString() {
      const { name, help } = this.#family;
      return { name, help, type: "histogram", values: this.#family.series.flatMap((series) => cumulate(name, series)) };
    }
  }

  const registry = new Registry();
  for (const family of families) {
    const { name, help } = family;
    if ("series" in family) {
      registry.registerMetric(new CountedHistogram(family));
      continue;
    }
    // The library would print a zero without labels.
    if (family.samples.length === 0) continue;
    const Metric = name.endsWith("_total") ? Counter : Gauge;
    const labelNames = Object.keys(family.samples[0]?.labels ?? {});
    const metric = new Metric({ name, help, labelNames, registers: [registry] });
    for (const { labels, value } of family.samples) metric.inc(labels, value);
  }
  return { contentType: registry.contentType, text: await registry.metrics() };
}

function cumulate(name: string, { labels, counts }: HistogramFamily["series"][number]) {
  let total = 0;
  const values: { labels: Record<string, string>; value: number; metricName: string }[] = [];
  for (let bucket = 0; bucket < counts.counts.length; bucket++) {
    total += counts.counts[bucket] ?? 0;
    const le = String(counts.bounds[bucket] ?? "+Inf");
    values.push({ labels: { ...labels, le }, value: total, metricName: `${name}_bucket` });
  }
  values.push({ labels: { ...labels }, value: counts.sum, metricName: `${name}_sum` });
  values.push({ labels: { ...labels }, value: total, metricName: `${name}_count` });
  return values;
}

/** What the operating system reports about this process, under the names that all Prometheus clients use. */
async function readProcessFigures(): Promise<NumberFamily[]> {
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
