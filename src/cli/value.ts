/** What is typed for an option or an operand: how the help shows it, and what shells complete it with. */

export interface Value {
  /** `<email>`, or `free|paid`. */
  readonly shown: string;
  /** What can be typed as it is; all there is, unless `shown` has more. */
  readonly choices: readonly string[];
  /** What else it may name; null for nothing on this machine. */
  readonly path: "file" | "directory" | null;
  /** Several of the choices, separated by commas. */
  readonly isList: boolean;
}

export interface Operand {
  readonly value: Value;
  /** Only the last may be. */
  readonly isOptional?: true;
  /** One or more; only the last may be. */
  readonly isRepeatable?: true;
}

export function free(word: string): Value {
  return { shown: `<${word}>`, choices: [], path: null, isList: false };
}

export const file: Value = { ...free("file"), path: "file" };
export const directory: Value = { ...free("directory"), path: "directory" };

export function oneOf(choices: readonly string[]): Value {
  return { shown: choices.join("|"), choices, path: null, isList: false };
}

export function listOf(word: string, choices: readonly string[]): Value {
  return { shown: `<${word}>`, choices, path: null, isList: true };
}

export function showOperand({ value, isOptional, isRepeatable }: Operand): string {
  const shown = `${value.shown}${isRepeatable ? "…" : ""}`;
  return isOptional ? `[${shown}]` : shown;
}
