/** Numbers, times and ids as people read them. */

const numbers = new Intl.NumberFormat("en");
const compactNumbers = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const instants = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const days = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export function formatNumber(value: number): string {
  return numbers.format(value);
}

export function formatCompact(value: number): string {
  return compactNumbers.format(value);
}

/** "1 page", "1,200 pages". */
export function countOf(count: number, unit: string, units = `${unit}s`): string {
  return `${formatNumber(count)} ${count === 1 ? unit : units}`;
}

const byteUnits = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** "0 bytes", "1.5 MiB". */
export function formatBytes(bytes: number): string {
  const unit = Math.min(byteUnits.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const amount = bytes / 1024 ** unit;
  return `${amount < 10 && unit > 0 ? Math.round(amount * 10) / 10 : Math.round(amount)} ${byteUnits[unit]}`;
}

export function formatInstant(iso: string): string {
  return instants.format(new Date(iso));
}

export function formatDay(iso: string): string {
  return days.format(new Date(iso));
}

const steps = [
  ["minute", 60],
  ["hour", 3600],
  ["day", 86_400],
  ["month", 2_629_800],
  ["year", 31_557_600],
] as const;

/** "3 hours ago", "in 2 days". */
export function formatRelative(iso: string, nowMs = Date.now()): string {
  const seconds = (Date.parse(iso) - nowMs) / 1000;
  if (Math.abs(seconds) < 45) return seconds > 0 ? "in a moment" : "just now";
  const [unit, size] = steps.findLast(([, size]) => Math.abs(seconds) >= size * 0.9) ?? steps[0];
  return relative.format(Math.round(seconds / size), unit);
}

/** "1 min", "3 hr", "2 days": how long something lasts already. */
export function formatSince(iso: string): string {
  const minutes = Math.max(1, Math.floor((Date.now() - Date.parse(iso)) / 60_000));
  const [unit, size] = (
    [
      ["day", 1440],
      ["hour", 60],
    ] as const
  ).find(([, size]) => minutes >= size) ?? ["minute", 1];
  return Intl.NumberFormat("en", { style: "unit", unit, unitDisplay: "short" }).format(Math.floor(minutes / size));
}

export function formatDuration(durationMs: number): string {
  return durationMs < 1000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`;
}

/** Enough of an id to distinguish it from its neighbours; the random end, since the start is the time. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** Browser and system, from a `User-Agent` header. */
export function describeBrowser(userAgent: string | null): string {
  if (userAgent === null) return "Unknown browser";
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)[\w/]*/.exec(userAgent)?.[1];
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|CrOS|Linux)/.exec(userAgent)?.[1];
  const names: Record<string, string> = { Edg: "Edge", OPR: "Opera", "Mac OS X": "macOS", CrOS: "ChromeOS" };
  if (!browser && !system) return userAgent.slice(0, 60);
  return [browser, system]
    .map((name) => (name ? (names[name] ?? name) : null))
    .filter(Boolean)
    .join(" on ");
}

/** The same estimate as the server's: UTF-8 bytes / 4. */
export function estimateTokens(text: string): number {
  return Math.ceil(new TextEncoder().encode(text).length / 4);
}
