/** The headings that a place in a document stands under. */

/** Of one heading, in a path: it is repeated with each passage. */
const maxNameUnits = 120;

export class HeadingPath {
  #levels: { readonly level: number; readonly name: string }[] = [];

  /** Outermost first. */
  names: readonly string[] = [];

  /** `line` with its number signs. */
  enter(level: number, line: string): void {
    const name = nameOf(line);
    this.#levels = this.#levels.filter((each) => each.level < level);
    if (name !== "") this.#levels.push({ level, name });
    this.names = this.#levels.map((each) => each.name);
  }
}

/** Without the marks of Markdown: it is shown as a line of text. */
function nameOf(line: string): string {
  const plain = line
    .replace(/^#+\s+/, "")
    .replace(/\s#+\s*$/, "")
    .replace(/[*_`]/g, "")
    .trim();
  if (plain.length <= maxNameUnits) return plain;
  return `${plain
    .slice(0, maxNameUnits)
    .toWellFormed()
    .replace(/\ufffd$/, "")}…`;
}
