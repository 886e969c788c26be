/** Parses Prometheus' text format as strictly as a scraper does. */

export interface Metrics {
  readonly text: string;
  /** Names of the families, from their TYPE lines. */
  readonly families: readonly string[];
  /** The sample with exactly these labels; 0 if there is none yet. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
}

export function readMetrics(text: string): Metrics {
  const samples = new Map<string, number>();
  const families: string[] = [];
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("# HELP ")) continue;
    const [, family] = /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line) ?? [];
    if (family !== undefined) {
      families.push(family);
      continue;
    }
    const [, name = "", labelText = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === "") throw new Error(`not a line of Prometheus' format: ${line}`);
    const labels = [...labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)",?/g)].map(([, label, of]) => `${label}=${of}`);
    const key = [name, ...labels.sort()].join(" ");
    if (samples.has(key)) throw new Error(`twice: ${line}`);
    samples.set(key, Number(value));
  }
  return {
    text,
    families,
    value(name, labels = {}) {
      const pairs = Object.entries(labels).map(([label, of]) => `${label}=${of}`);
      return samples.get([name, ...pairs.sort()].join(" ")) ?? 0;
    },
  };
}
