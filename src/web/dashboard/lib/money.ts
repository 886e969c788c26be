/** US dollars as people read and type them; amounts are whole millionths, as the API has them. */

const microsPerDollar = 1_000_000;

const style = { style: "currency", currency: "USD" } as const;
const dollars = new Intl.NumberFormat("en-US", style);
const small = new Intl.NumberFormat("en-US", { ...style, maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat("en-US", { ...style, maximumFractionDigits: 6 });
const compact = new Intl.NumberFormat("en-US", { ...style, notation: "compact", maximumSignificantDigits: 3 });

/** "$12.50", "$0.0042": below ten cents, three digits that mean something. */
export function formatMoney(micros: number): string {
  return (micros > 0 && micros < 99_950 ? small : dollars).format(micros / microsPerDollar);
}

/** For large figures, whose exact sum stands elsewhere: "< $0.01" below a cent. */
export function formatRoundMoney(micros: number): string {
  return micros > 0 && micros < 10_000 ? "< $0.01" : formatMoney(micros);
}

/** To the last digit. */
export function formatExactMoney(micros: number): string {
  return whole.format(micros / microsPerDollar);
}

/** "$1.2K", for axes. */
export function formatCompactMoney(micros: number): string {
  return compact.format(micros / microsPerDollar);
}

/** What was typed as dollars, exactly, since no number with a fraction is involved; null if it is no such amount. */
export function readMicros(text: string): number | null {
  const [, whole, fraction = ""] = /^\$?\s*(?=\.?\d)(\d{0,9})(?:\.(\d{0,6}))?$/.exec(text.trim()) ?? [];
  return whole === undefined ? null : Number(whole) * microsPerDollar + Number(fraction.padEnd(6, "0"));
}

/** The same amount as it would be typed: "12.5". */
export function writeDollars(micros: number): string {
  const fraction = String(micros % microsPerDollar)
    .padStart(6, "0")
    .replace(/0{1,4}$/, "");
  return `${Math.floor(micros / microsPerDollar)}.${fraction}`;
}
