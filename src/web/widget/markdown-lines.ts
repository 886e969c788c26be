/** What a line of Markdown begins. Each reads its line once, character by character: patterns would go back and try again. */

export const isSpace = (char: string): boolean => char !== "" && char.trim() === "";

/** Where the first character that is no white space is, `end` at the latest. */
export function skipSpace(text: string, at: number, end = text.length): number {
  let next = at;
  while (next < end && isSpace(text.charAt(next))) next++;
  return next;
}

/** Where the run of one character ends, `end` at the latest. */
export function skipRun(text: string, at: number, end = text.length): number {
  const char = text.charAt(at);
  let next = at;
  while (next < end && text.charAt(next) === char) next++;
  return next;
}

/** Tabs before the first word stand for four spaces each. */
export function widenTabs(line: string): string {
  const start = skipSpace(line, 0);
  const indent = line.slice(0, start);
  return indent.includes("\t") ? indent.replaceAll("\t", "    ") + line.slice(start) : line;
}

export function readFence(line: string, at: number): { mark: string; language: string } | null {
  const mark = line.slice(at, skipRun(line, at));
  if (mark.length < 3 || !/[`~]/.test(mark.charAt(0))) return null;
  const about = line.slice(at + mark.length).trim();
  return about.includes("`") ? null : { mark, language: /^[\w+#.-]*/.exec(about.slice(0, 32))?.[0] ?? "" };
}

/** The same marks, as many or more, and nothing behind them. */
export function endsFence(line: string, at: number, mark: string): boolean {
  return line.startsWith(mark, at) && skipSpace(line, skipRun(line, at)) === line.length;
}

export function readHeading(line: string, at: number): { level: number; text: string } | null {
  if (line.charAt(at) !== "#") return null;
  const end = skipRun(line, at, at + 7);
  if (end - at > 6 || !isSpace(line.charAt(end))) return null;
  const text = line.slice(end).trim();
  let close = text.length;
  while (text.charAt(close - 1) === "#") close--;
  // `## Like this ##`; but not `## About C#`.
  const isClosed = close === 0 || isSpace(text.charAt(close - 1));
  return { level: end - at, text: isClosed ? text.slice(0, close).trim() : text };
}

/** Three marks or more of one kind, with nothing but space between. */
export function isRule(line: string, at: number): boolean {
  const mark = line.charAt(at);
  if (!/[-*_]/.test(mark)) return false;
  let count = 0;
  for (let next = at; next < line.length; next++) {
    const char = line.charAt(next);
    if (char === mark) count++;
    else if (!isSpace(char)) return false;
  }
  return count > 2;
}

/** The line between the head of a table and its rows. */
export function isTableRule(line: string, at: number): boolean {
  let next = at;
  while (next < line.length && "|:- \t\r".includes(line.charAt(next))) next++;
  return next === line.length && line.includes("|", at) && line.includes("-", at);
}

/** `end` is behind the mark; `start` is the number of an ordered item. */
export function readItem(line: string, at: number): { end: number; start: number | null } | null {
  let end = at;
  while (end < at + 9 && /\d/.test(line.charAt(end))) end++;
  const start = end > at ? Number(line.slice(at, end)) : null;
  const mark = line.charAt(end++);
  const isMark = (start === null ? /[-*+•]/ : /[.)]/).test(mark);
  return isMark && (end === line.length || isSpace(line.charAt(end))) ? { end, start } : null;
}

/** The box of a task, `[ ]` or `[x]`, as a character: that needs neither a name nor a state. */
export function readBox(line: string, at: number): string | null {
  const [box] = /^\[[ x]\](?!\S)/i.exec(line.slice(at, at + 4)) ?? [];
  if (!box) return null;
  return box === "[ ]" ? "☐" : "☑";
}

/** The cells of a table's row; an escaped bar belongs to the text. */
export function readCells(line: string): string[] {
  let inner = line.replaceAll("\\|", "\0").trim();
  if (inner.startsWith("|")) inner = inner.slice(1);
  if (inner.endsWith("|")) inner = inner.slice(0, -1);
  return inner.split("|").map((cell) => cell.replaceAll("\0", "|").trim());
}
