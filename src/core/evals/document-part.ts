/** A part of a document with its position, read member by member: what is wrong is noted with its line, and reading goes on. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { findNearest } from "../../lib/edit-distance.ts";
import type { FileDocument } from "../companion-files/documents.ts";
import type { FileFault } from "../companion-files/marked-value.ts";

type PartPath = readonly (string | number)[];

export interface NamedDocument extends FileDocument {
  /** What faults call it. */
  readonly file: string;
}

interface TextRules {
  /** In code points. */
  readonly max: number;
  readonly pattern?: RegExp;
  /** Continues the path: "must be …". */
  readonly form?: string;
}

export class DocumentPart {
  private constructor(
    private readonly document: NamedDocument,
    private readonly faults: FileFault[],
    private readonly path: PartPath,
    /** Undefined where it is left out. */
    readonly value: JsonValue | undefined,
  ) {}

  static whole(document: NamedDocument, faults: FileFault[]): DocumentPart {
    return new DocumentPart(document, faults, [], document.value);
  }

  get isGiven(): boolean {
    return this.value !== undefined;
  }

  /** Notes a fault at this part. */
  refuse(sentence: string): void {
    const { file } = this.document;
    const name = showPath(this.path);
    const text = name === "" ? `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}` : `${name}: ${sentence}`;
    this.faults.push({ file, line: this.document.lineOf(this.path), sentence: text });
  }

  /** The members of an object that has no others; an empty one where it is none. */
  members<Name extends string>(known: readonly Name[], required: readonly Name[] = []): Record<Name, DocumentPart> {
    const found = this.object();
    for (const name of Object.keys(found)) {
      if (known.some((one) => one === name)) continue;
      const nearest = findNearest(name, [...known]);
      this.#at(name).refuse(`unknown field.${nearest === null ? "" : ` Did you mean ${nearest}?`}`);
    }
    const missing = required.filter((name) => !Object.hasOwn(found, name));
    if (isJsonObject(this.value) && missing.length > 0) this.refuse(`${missing.join(" and ")} must be given.`);
    return Object.fromEntries(known.map((name) => [name, this.#at(name)])) as Record<Name, DocumentPart>;
  }

  object(): JsonObject {
    if (isJsonObject(this.value)) return this.value;
    if (this.isGiven) this.refuse("must be an object.");
    return {};
  }

  list({ min = 0, max = 10_000 }: { readonly min?: number; readonly max?: number } = {}): DocumentPart[] {
    if (!this.isGiven) return [];
    if (!Array.isArray(this.value) || this.value.length < min || this.value.length > max) {
      this.refuse(min > 0 ? `must be a list of ${min} to ${max}.` : `must be a list of at most ${max}.`);
      return [];
    }
    return this.value.map((_, index) => this.#at(index));
  }

  /** Not empty, well-formed and without NUL. */
  text({ max, pattern, form = `text of 1 to ${max} characters` }: TextRules): string {
    const { value } = this;
    if (value === undefined) return "";
    const isRight =
      typeof value === "string" &&
      value.trim() !== "" &&
      [...value].length <= max &&
      value.isWellFormed() &&
      !value.includes("\0") &&
      pattern?.test(value) !== false;
    if (isRight) return value;
    const isNumber = typeof value === "number" || typeof value === "boolean";
    this.refuse(`must be ${form}.${isNumber ? " Put it in quotes." : ""}`);
    return "";
  }

  integer({ min, max }: { readonly min: number; readonly max: number }): number {
    const { value } = this;
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    if (this.isGiven) this.refuse(`must be a whole number from ${min} to ${max}.`);
    return min;
  }

  oneOf<Choice extends JsonValue>(choices: readonly Choice[]): Choice {
    const found = choices.find((choice) => choice === this.value);
    if (found !== undefined) return found;
    if (this.isGiven)
      this.refuse(`must be ${new Intl.ListFormat("en", { type: "disjunction" }).format(choices.map(String))}.`);
    return choices[0] as Choice;
  }

  #at(step: string | number): DocumentPart {
    const { value } = this;
    let member: JsonValue | undefined;
    if (Array.isArray(value)) member = value[Number(step)];
    else if (isJsonObject(value) && Object.hasOwn(value, step)) member = value[step];
    return new DocumentPart(this.document, this.faults, [...this.path, step], member);
  }
}

/** `cases[2].turns[0].user`; empty for the whole. */
function showPath(path: PartPath): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
}
