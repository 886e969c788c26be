/** What a setting is, and the usual kinds of definitions. */
import type { ParseValue } from "./values.ts";

export type FlagName = "host" | "port" | "data-dir" | "domain" | "tls-cert" | "tls-key";

export interface Setting<Value> {
  variable: string;
  /** The flag with the same meaning; it wins over the variable. */
  flag?: FlagName;
  /** Can also be given as `<variable>_FILE`; never shown. */
  isSecret?: true;
  /** The same for what is too long for a variable, and no secret. */
  hasFile?: true;
  parse: ParseValue<Value>;
  fallback: Value;
  /** The default as shown in `.env.example`; empty if unset is the default. */
  defaultText: string;
  /** For `serve --help` and `.env.example`: what it does, and what holds without it. */
  about: string;
}

/** Whether it can also be given as the path of a file that contains it. */
export function takesFile({ isSecret, hasFile }: Pick<Setting<unknown>, "isSecret" | "hasFile">): boolean {
  return isSecret === true || hasFile === true;
}

export function setting<Value>(entry: Setting<Value>): Setting<Value> {
  return entry;
}

export function withFlag<Value>(flag: NonNullable<Setting<Value>["flag"]>, entry: Setting<Value>): Setting<Value> {
  return { ...entry, flag };
}

/** A setting without a default. */
export function optional<Value>(entry: Omit<Setting<Value | null>, "fallback" | "defaultText">): Setting<Value | null> {
  return { ...entry, fallback: null, defaultText: "" };
}

/** A setting whose default is shown as it is. */
export function plain<Value extends string | number>(
  variable: string,
  fallback: Value,
  parse: ParseValue<Value>,
  about: string,
): Setting<Value> {
  return { variable, parse, fallback, defaultText: String(fallback), about };
}
