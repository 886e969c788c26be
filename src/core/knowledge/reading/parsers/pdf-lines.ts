/** Pieces of text with their positions on a page, as lines, headings, paragraphs and rows of tables. */

/** As PDF.js gives it: `transform` ends with x and y, counted from the lower left corner. */
export interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
}

export interface Line {
  /** Cells where wide gaps part the line, as in tables. */
  readonly cells: string[];
  readonly left: number;
  right: number;
  readonly baseline: number;
  /** Of its largest characters. */
  size: number;
}

/** Items in the order of the file: sorting them by position would mix the columns of a page. */
export function makeLines(items: readonly TextItem[]): Line[] {
  const lines: Line[] = [];
  let line: Line | null = null;
  for (const { str, transform, width, height } of items) {
    const [, , skew = 0, scale = 0, left = 0, baseline = 0] = transform;
    const size = height || Math.hypot(skew, scale);
    if (str.trim() !== "") {
      const isSameLine: boolean =
        line !== null &&
        Math.abs(baseline - line.baseline) < Math.max(size, line.size) * 0.6 &&
        left > line.right - size;
      if (line === null || !isSameLine) {
        line = { cells: [str], left, right: left + width, baseline, size };
        lines.push(line);
      } else {
        append(line, str, left, size);
        line.right = Math.max(line.right, left + width);
        line.size = Math.max(line.size, size);
      }
    } else if (line !== null && str !== "" && width < line.size * 1.5) {
      // A space of its own; a wide one parts cells, which the next item's position shows.
      line.cells.push(`${line.cells.pop() ?? ""} `);
      line.right = Math.max(line.right, left + width);
    }
  }
  return lines;
}

function append(line: Line, text: string, left: number, size: number): void {
  const gap = left - line.right;
  if (gap > size * 1.5) {
    line.cells.push(text);
    return;
  }
  const last = line.cells.pop() ?? "";
  line.cells.push(last + (gap > size * 0.15 && !/\s$/.test(last) ? " " : "") + text);
}

/** The size that most characters have. */
export function findBodySize(lines: readonly Line[]): number {
  const counts = new Map<number, number>();
  for (const { size, cells } of lines) {
    const rounded = Math.round(size * 2) / 2;
    counts.set(rounded, (counts.get(rounded) ?? 0) + cells.join("").length);
  }
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0])[0];
}

export function writeLines(lines: readonly Line[], bodySize: number): string {
  const width = lines.reduce((widest, line) => Math.max(widest, line.right - line.left), 0);
  let text = "";
  let previous: Line | null = null;
  for (const line of lines) {
    text = join(text, previous, line, writeLine(line, bodySize), { bodySize, width });
    previous = line;
  }
  return text;
}

/** Between an entry of a table of contents and its page. */
const dotLeaders = /(?: ?\.){5,} ?/g;

function writeLine(line: Line, bodySize: number): string {
  const cells = line.cells
    .map((cell) => cell.replace(/\s+/g, " ").replace(dotLeaders, " … ").trim())
    .filter((cell) => cell !== "");
  const level = headingLevel(line, bodySize);
  if (level > 0) return `${"#".repeat(level)} ${cells.join(" ")}`;
  const [first = "", second] = cells;
  const bullet = /^[•‣▪●◦–]\s*/.exec(first)?.[0];
  if (bullet !== undefined && (first.length > bullet.length || second !== undefined)) {
    return `- ${[first.slice(bullet.length), ...cells.slice(1)].join(" ").trim()}`;
  }
  return cells.length > 1 ? `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |` : first;
}

/** 0: none. A whole paragraph in large characters is none either. */
function headingLevel({ size, cells }: Line, bodySize: number): number {
  const length = cells.join(" ").length;
  if (bodySize === 0 || length > 120 || length < 3) return 0;
  const ratio = size / bodySize;
  if (ratio >= 1.6) return 1;
  if (ratio >= 1.3) return 2;
  return ratio >= 1.12 ? 3 : 0;
}

interface Layout {
  bodySize: number;
  /** Of the widest line of the page. */
  width: number;
}

function join(text: string, above: Line | null, line: Line, words: string, { bodySize, width }: Layout): string {
  if (above === null) return words;
  const isHeading = words.startsWith("#");
  const wasHeading = headingLevel(above, bodySize) > 0;
  const gap = above.baseline - line.baseline;
  if (isHeading && wasHeading && sameSize(above, line) && gap > 0 && gap < line.size * 1.6) {
    return `${text} ${words.replace(/^#+ /, "")}`;
  }
  const isRow = words.startsWith("| ");
  const wasRow = above.cells.length > 1;
  // A jump upwards is the next column. Cells of a table have space around them.
  const isApart = gap > Math.max(above.size, line.size) * (isRow && wasRow ? 4 : 1.8) || gap < -line.size;
  if (isHeading || wasHeading || isApart || isRow !== wasRow) return `${text}\n\n${words}`;
  const isFull = above.right - above.left > width * 0.6;
  if (isRow || words.startsWith("- ") || !isFull) return `${text}\n${words}`;
  // A word parted at the end of a line; numbers and names keep their hyphen.
  const end = text.slice(-2);
  if (/\p{Ll}-$/u.test(end) && /^\p{Ll}/u.test(words)) return text.slice(0, -1) + words;
  if (end.endsWith("-")) return text + words;
  return isEastAsian(end.slice(-1)) && isEastAsian(words.slice(0, 1)) ? text + words : `${text} ${words}`;
}

function sameSize(one: Line, other: Line): boolean {
  return Math.abs(one.size - other.size) < 0.5;
}

/** Written without spaces between words. */
function isEastAsian(character: string): boolean {
  return /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\u3000-\u303f\uff00-\uffef]/u.test(character);
}
