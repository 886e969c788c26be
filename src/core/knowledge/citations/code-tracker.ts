/** Follows a text of Markdown, character by character, and knows where it is code. */

/** A run of backticks or tildes that has not ended yet. */
interface Run {
  readonly mark: string;
  length: number;
  /** Whether only indentation, quotation marks and a list's bullet stand before it on its line. */
  readonly beginsLine: boolean;
  /** What stands before it. */
  readonly before: string;
}

const lineStart = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?[ \t>]*$/;
/** Of a line's start, which is all that matters of it. */
const maxStartUnits = 64;

/**
 * Code spans end with a run of backticks as long as the one that began them, or with their paragraph: what follows cannot
 * be waited for. Fences end with their own mark, as in CommonMark; they may stand in lists and quotations.
 */
export class CodeTracker {
  #run: Run | null = null;
  /** The length of the run that began the span; 0 outside of spans. */
  #span = 0;
  #fence: { readonly mark: string; readonly length: number; readonly before: string } | null = null;
  /** In the line on which a fence of backticks began: another backtick would make it a code span. */
  #isInfo = false;
  /** The line may end the fence: nothing but white space follows its mark. */
  #mayClose = false;
  #line = "";
  #isEscaped = false;

  /** Whether a marker that begins here is code. */
  get isCode(): boolean {
    this.#endRun();
    return this.#span > 0 || this.#fence !== null;
  }

  /** What ends the fence that is open at the end of a text; empty if none is. Elsewhere than in its list it would begin another. */
  get closing(): string {
    this.#endRun();
    if (this.#fence === null || this.#mayClose) return "";
    const { mark, length, before } = this.#fence;
    return `\n${before.replace(/[^\s>]/g, " ")}${mark.repeat(length)}`;
  }

  pass(character: string): void {
    if (character === "\n") {
      this.#endLine();
      return;
    }
    const isMark = character === "`" || character === "~";
    if (this.#run !== null && this.#run.mark === character) this.#run.length++;
    else {
      this.#endRun();
      if (isMark && !this.#isEscaped) {
        this.#run = { mark: character, length: 1, beginsLine: lineStart.test(this.#line), before: this.#line };
      } else if (this.#mayClose && character !== " " && character !== "\t" && character !== "\r")
        this.#mayClose = false;
    }
    this.#isEscaped = character === "\\" && !this.#isEscaped && this.#span === 0;
    if (this.#line.length < maxStartUnits) this.#line += character;
  }

  #endRun(): void {
    const run = this.#run;
    if (run === null) return;
    this.#run = null;
    const { mark, length, beginsLine, before } = run;
    if (this.#fence !== null) {
      if (this.#isInfo && mark === "`") this.#becomeSpan(length);
      else this.#mayClose = beginsLine && mark === this.#fence.mark && length >= this.#fence.length;
    } else if (beginsLine && length >= 3 && this.#span === 0) {
      this.#fence = { mark, length, before };
      this.#isInfo = true;
    } else if (mark === "`") {
      if (this.#span === 0) this.#span = length;
      else if (this.#span === length) this.#span = 0;
    }
  }

  /** It was no fence: its line has another backtick. */
  #becomeSpan(length: number): void {
    const opened = this.#fence?.mark === "`" ? this.#fence.length : 0;
    if (opened === 0) return;
    this.#fence = null;
    this.#isInfo = false;
    this.#span = opened === length ? 0 : opened;
  }

  #endLine(): void {
    this.#endRun();
    if (this.#mayClose) this.#fence = null;
    this.#mayClose = false;
    this.#isInfo = false;
    if (/^[ \t\r]*$/.test(this.#line)) this.#span = 0;
    this.#line = "";
    this.#isEscaped = false;
  }
}
