/** Stands between the provider and a turn whose model was given passages: what goes through has only true citations. */
import type { ReplyEvent, ReplySink } from "../../../contracts/llm/provider.ts";
import type { CitationMode, CitedSource, NumberedPassage } from "../../../domain/knowledge.ts";
import { CitationFilter } from "./citation-filter.ts";

export interface CitedReplyOptions {
  readonly mode: CitationMode;
  readonly passages: readonly NumberedPassage[];
  /** Sent instead of a whole reply that was nothing but markers: a reply without text is none. */
  sayNothingFound(): string;
}

export class CitedReply implements ReplySink {
  readonly #filter: CitationFilter;
  readonly #sink: ReplySink;
  readonly #mode: CitationMode;
  readonly #passages: readonly NumberedPassage[];
  readonly #sayNothingFound: () => string;
  #hasText = false;
  /** Whether a whole reply had no word of the model's. */
  isEmpty = false;

  constructor(sink: ReplySink, { mode, passages, sayNothingFound }: CitedReplyOptions) {
    this.#filter = new CitationFilter(mode, passages.length);
    this.#sink = sink;
    this.#mode = mode;
    this.#passages = passages;
    this.#sayNothingFound = sayNothingFound;
  }

  emit(event: ReplyEvent): Promise<unknown> | undefined {
    const deltas = event.deltas.map((delta) => this.#filter.pass(delta)).filter((delta) => delta !== "");
    return deltas.length === 0 ? undefined : this.#pass(deltas);
  }

  /**
   * Call it once, after the last text. A reply that broke off gets no footer: it may have meant to cite more. One that is
   * paused may be without text.
   */
  end(isComplete: boolean, isPaused = false): void {
    const rest = this.#filter.end();
    const cited = this.#listCited();
    const hasFooter = isComplete && this.#mode === "footer" && cited.length > 0;
    const last = hasFooter ? `${rest}${this.#filter.closing}\n\n${writeFooter(cited)}` : rest;
    if (last !== "") this.#pass([last]);
    else if (isComplete && !isPaused && !this.#hasText) {
      this.isEmpty = true;
      this.#pass([this.#sayNothingFound()]);
    }
  }

  isCited(n: number): boolean {
    return this.#filter.cited.has(n);
  }

  /** What the reply cites; where it must not show that, what the model saw. */
  listSources(): CitedSource[] {
    return toSources(this.#mode === "none" ? this.#passages : this.#listCited());
  }

  #pass(deltas: readonly string[]): Promise<unknown> | undefined {
    this.#hasText = true;
    return this.#sink.emit({ type: "text", deltas });
  }

  #listCited(): NumberedPassage[] {
    return this.#passages.filter(({ n }) => this.isCited(n));
  }
}

/** By number. */
export function toSources(passages: readonly NumberedPassage[]): CitedSource[] {
  return passages.map(({ n, title, url, page }) => ({ n, title, url, page })).sort((a, b) => a.n - b.n);
}

/** A line for each source, with the first of its cited numbers: passages of one page of a website are one source. */
function writeFooter(cited: readonly NumberedPassage[]): string {
  const lines = new Map<string, string>();
  for (const { n, sourceId, title, url } of [...cited].sort((a, b) => a.n - b.n)) {
    const name = JSON.stringify([sourceId, title, url]);
    if (lines.has(name)) continue;
    lines.set(name, `[${n}] ${escapeMarkdown(title)}${url === null ? "" : `: ${escapeAddress(url)}`}`);
  }
  return [...lines.values()].join("\n");
}

/** As text wherever it stands in a line, addresses too: titles come from pages that anyone may have written. */
function escapeMarkdown(title: string): string {
  return title
    .replace(turning, "")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_[\]<>~|&]|:(?=\/\/)|(?<=\bwww)\./gi, "\\$&");
}

/** What would end the address, or begin something else: none of it is left in an address as browsers write it. */
function escapeAddress(url: string): string {
  return url.replace(/[\s<>"`\\|^{}[\]\u202a-\u202e\u2066-\u2069]/g, (character) => encodeURIComponent(character));
}

/** Turns the direction in which all that follows is shown: the address behind a title, too. */
const turning = /[\u202a-\u202e\u2066-\u2069]/g;
