/** How many companions are written with one commit: while it is made, all other writes wait, and in SQLite everyone. */

/** As many as are a few milliseconds of work where their metadata is small. */
const maxLines = 250;
/** Every value of metadata is a row of the index: about ten milliseconds, and a single companion may have as many. */
const maxValues = 2_000;
const maxBytes = 256 * 1024;

const comma = 44;

/** At most so many: between two values there is a comma. Those in texts count too, which only makes a portion smaller. */
function countValues(line: Uint8Array): number {
  let values = 1;
  for (let at = 0; at < line.length; at++) if (line[at] === comma) values++;
  return values;
}

/** Lines of JSON that are written together. Cuts the same lines always the same, so that a repetition finds what was made. */
export class Portion {
  #lines = 0;
  #values = 0;
  #bytes = 0;

  /** False if the line is too much for it. The first never is. Null has no bytes worth writing. */
  takes(line: Uint8Array | null): boolean {
    this.#lines++;
    this.#values += line === null ? 0 : countValues(line);
    this.#bytes += line?.length ?? 0;
    if (this.#lines === 1) return true;
    return this.#lines <= maxLines && this.#values <= maxValues && this.#bytes <= maxBytes;
  }
}

/** All of the lines, in their order. */
export function cutPortions<Line extends { readonly bytes: Uint8Array | null }>(lines: readonly Line[]): Line[][] {
  const portions: Line[][] = [];
  let portion = new Portion();
  for (const line of lines) {
    const last = portions.at(-1);
    if (last !== undefined && portion.takes(line.bytes)) {
      last.push(line);
      continue;
    }
    portion = new Portion();
    portion.takes(line.bytes);
    portions.push([line]);
  }
  return portions;
}
