/** Renders metric families as the text that Prometheus scrapes. */
import type { Family, HistogramFamily } from "./families.ts";

export async function renderFamilies(families: readonly Family[]): Promise<{ contentType: string; text: string }> {
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
