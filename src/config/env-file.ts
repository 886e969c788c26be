/**
 * The `--env-file` format. We parse it ourselves so that it means the same everywhere: no expansion, no continuation
 * lines.
 */

export interface EnvFile {
  values: Map<string, string>;
  /** The number of each name's line. */
  lines: ReadonlyMap<string, number>;
  /** One sentence each, starting with the line number. */
  problems: string[];
}

/** No word of it is as long as a secret: the last line of a key in PEM, or a code in base32, has the form of a name too. */
export function mayRepeat(name: string): boolean {
  return /^(?:[A-Z0-9_]+|[a-z0-9_]+)$/.test(name) && name.split("_").every((word) => word.length <= 15);
}

const linePattern = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/s;
const doubleQuotedPattern = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/s;
const singleQuotedPattern = /^'([^']*)'\s*(?:#.*)?$/s;
const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

/**
 * One `NAME=value` per line. Blank lines and lines that start with `#` are skipped; `export ` before a name is ignored.
 * Bare values are trimmed and end before ` #`; 'single quotes' are literal; "double quotes" understand \n \r \t \" \\.
 */
export function parseEnvFile(text: string): EnvFile {
  const values = new Map<string, string>();
  const lines = new Map<string, number>();
  const problems: string[] = [];
  const rawLines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  for (const [index, rawLine] of rawLines.entries()) {
    const line = rawLine.trim();
    const number = index + 1;
    if (line === "" || line.startsWith("#")) continue;
    const [, name, raw] = linePattern.exec(line) ?? [];
    // Never quote the line itself: it may hold a secret.
    if (name === undefined || raw === undefined) {
      problems.push(`line ${number}: expected NAME=value.`);
      continue;
    }
    const value = readValue(raw);
    const shown = mayRepeat(name) ? name : "what is before the =";
    const earlier = lines.get(name);
    if (value === null) problems.push(`line ${number}: the quotes around the value of ${shown} do not match.`);
    else if (earlier !== undefined) problems.push(`line ${number}: ${shown} is already set on line ${earlier}.`);
    else {
      values.set(name, value);
      lines.set(name, number);
    }
  }
  return { values, lines, problems };
}

function readValue(raw: string): string | null {
  if (raw.startsWith('"')) {
    const inner = doubleQuotedPattern.exec(raw)?.[1];
    return inner?.replace(/\\(.)/gs, (_, letter: string) => escapes[letter] ?? letter) ?? null;
  }
  if (raw.startsWith("'")) return singleQuotedPattern.exec(raw)?.[1] ?? null;
  if (raw.startsWith("#")) return "";
  return raw.replace(/\s+#.*$/s, "").trimEnd();
}
