/** Durations as people write them: `30m`, `12h`, `90d`, `2w`. */

const unitMs: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds, or null if the text is not a duration. */
export function parseDurationMs(text: string): number | null {
  const [, amount, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const factor = unit === undefined ? undefined : unitMs[unit];
  return amount === undefined || factor === undefined || Number(amount) === 0 ? null : Number(amount) * factor;
}
