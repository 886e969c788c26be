/** Reads companions from files as `POST /api/apply` takes them: texts that files name stand where they belong. */
import { basename } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { maxUploadBytes } from "../../domain/knowledge.ts";
import { decodeFile, type FileDocument, maxFileBytes, readDocuments } from "./documents.ts";
import type { FileFault } from "./marked-value.ts";
import { type AsCaller, FileRefusal, listFiles, type NamedPath, readFileOf, resolveNamed } from "./named-files.ts";

export const maxCompanions = 250;
export const maxSetBytes = 8 * 1024 * 1024;

/** Fields whose text may be in a file of its own, named by `<field>_file`. */
export const textFields = ["system_prompt", "greeting", "no_answer_text"] as const;

/** What of a source is in a file, as its document names it. */
const sourceContents = ["text_file", "file", "url", "sitemap", "content_hash"] as const;

/** A file that becomes a source, sent when the rest is applied. */
export interface FileUpload {
  readonly sourceSlug: string;
  readonly path: string;
  readonly name: string;
}

export interface FileCompanion {
  /** An entry of `companions` in the body of `POST /api/apply`; what is wrong with its fields is found there. */
  readonly entry: JsonObject;
  readonly file: string;
  readonly uploads: readonly FileUpload[];
  /** `path`: in `entry`. */
  lineOf(path: readonly (string | number)[]): number;
  /** Whether what is wrong with this is known already. */
  isFaulty(path: readonly (string | number)[]): boolean;
}

export interface CompanionFiles {
  /** Also those with faults, as far as they can be read. */
  readonly companions: readonly FileCompanion[];
  readonly faults: readonly FileFault[];
}

/** Faults of the files are returned; throws `FileRefusal` for a path that cannot be read. */
export async function readCompanionFiles(paths: readonly string[], asCaller: AsCaller): Promise<CompanionFiles> {
  const faults: FileFault[] = [];
  const companions: FileCompanion[] = [];
  const budget = { bytes: maxSetBytes };
  const refuse = (file: string, refusal: FileRefusal) => {
    faults.push({ file, line: 1, sentence: `${refusal.message}.` });
  };
  for (const file of listFiles(paths, asCaller, refuse)) {
    let bytes: Uint8Array;
    try {
      bytes = readWithin(file.path, budget, asCaller);
    } catch (error) {
      if (!(error instanceof FileRefusal)) throw error;
      refuse(file.path, error);
      continue;
    }
    const { documents, faults: found, isJson } = await readDocuments(file.path, bytes);
    faults.push(...found);
    for (const document of documents.flatMap((one) => (isJson ? splitList(one) : [one]))) {
      const read = readCompanion(document, file, budget, asCaller);
      faults.push(...read.faults);
      if (read.companion !== null) companions.push(read.companion);
    }
  }
  faults.push(...findRepeated(companions));
  const beyond = companions[maxCompanions];
  if (beyond !== undefined) {
    const sentence = `A set has at most ${maxCompanions} companions: this is one more.`;
    faults.push({ file: beyond.file, line: beyond.lineOf([]), sentence });
  }
  return { companions, faults };
}

function readWithin(path: string, budget: { bytes: number }, asCaller: AsCaller): Uint8Array<ArrayBuffer> {
  const bytes = readFileOf(path, Math.min(maxFileBytes, maxSetBytes), asCaller);
  budget.bytes -= bytes.length;
  if (budget.bytes < 0) throw new FileRefusal(`${path} makes more than ${maxSetBytes / 1024 ** 2} MiB of a set`);
  return bytes;
}

/** A JSON file may be a list. */
function splitList(document: FileDocument): FileDocument[] {
  const { value } = document;
  if (!Array.isArray(value)) return [document];
  return value.map((item, at) => ({
    value: item,
    lineOf: (path) => document.lineOf([at, ...path]),
    isUnread: (path) => document.isUnread([at, ...path]),
  }));
}

function readCompanion(document: FileDocument, source: NamedPath, budget: { bytes: number }, asCaller: AsCaller) {
  const faults: FileFault[] = [];
  const known = new Set<string>();
  const report = (path: readonly (string | number)[], sentence: string) => {
    faults.push({ file: source.path, line: document.lineOf(path), sentence });
    known.add(path.join(".").replace(/_file$/, ""));
  };
  if (!isJsonObject(document.value)) {
    report([], "Must be a companion: fields with their values. Separate several by a line ---.");
    return { companion: null, faults };
  }

  /** The text of the file that the field names; null once that is reported. */
  function readText(path: readonly (string | number)[], name: JsonValue | undefined): string | null {
    const bytes = readNamed(path, name, (real) => readWithin(real, budget, asCaller));
    if (bytes === null) return null;
    const decoded = decodeFile(String(name), bytes);
    if ("text" in decoded) return decoded.text;
    const { line, sentence } = decoded.fault;
    report(path, `${JSON.stringify(name)}, line ${line}: ${sentence}`);
    return null;
  }

  function readNamed<Result>(
    path: readonly (string | number)[],
    name: JsonValue | undefined,
    read: (real: string) => Result,
  ): Result | null {
    if (typeof name !== "string" || name === "" || name.includes("\0")) {
      report(path, `${path.at(-1)} must be the name of a file.`);
      return null;
    }
    try {
      return read(resolveNamed(name, source, asCaller));
    } catch (error) {
      if (!(error instanceof FileRefusal)) throw error;
      report(path, `${path.at(-1)}: ${error.message}.`);
      return null;
    }
  }

  const { ...entry } = document.value;
  for (const field of textFields) {
    const named = `${field}_file`;
    if (!Object.hasOwn(entry, named)) continue;
    if (Object.hasOwn(entry, field))
      report([named], `${named} and ${field} stand beside one another: write one of them.`);
    else entry[field] = readText([named], entry[named]);
    delete entry[named];
  }

  const uploads: FileUpload[] = [];
  function readSource(sent: JsonObject, at: number): JsonObject {
    const { text_file: textFile, file, ...rest } = sent;
    const path = ["sources", at];
    const given = sourceContents.filter((name) => Object.hasOwn(sent, name));
    if (given.length !== 1) {
      report(path, `A source has one of ${sourceContents.join(", ")}.`);
      return rest;
    }
    if (Object.hasOwn(sent, "text"))
      report([...path, "text"], "Write the text into a file, and name that as text_file.");
    // What cannot be read is reported, and is no fault of its form as well.
    if (textFile !== undefined) return { ...rest, text: readText([...path, "text_file"], textFile) ?? "?" };
    if (file === undefined) return rest;
    const upload = readNamed([...path, "file"], file, (real) => {
      return { path: real, hash: Bun.SHA256.hash(readFileOf(real, maxUploadBytes, asCaller), "hex") };
    });
    if (upload === null) return rest;
    uploads.push({ sourceSlug: String(sent["slug"]), path: upload.path, name: basename(String(file)) });
    return { ...rest, file_hash: upload.hash };
  }

  const { sources } = entry;
  if (Array.isArray(sources)) {
    entry["sources"] = sources.map((one, at) => (isJsonObject(one) ? readSource(one, at) : one));
  }
  if (!Object.hasOwn(entry, "slug")) report(["slug"], "slug is missing: it is what joins the file and the server.");
  const lineOf = (path: readonly (string | number)[]) => document.lineOf(toFilePath(document.value, path));
  const isFaulty = (path: readonly (string | number)[]) => {
    return known.has(path.join(".")) || document.isUnread(toFilePath(document.value, path));
  };
  const companion: FileCompanion = { entry, file: source.path, uploads, lineOf, isFaulty };
  return { companion, faults };
}

/** A text's path where a file named its file. */
function toFilePath(value: JsonValue, path: readonly (string | number)[]): (string | number)[] {
  const found: (string | number)[] = [];
  let at: unknown = value;
  for (const step of path) {
    const isNamed = isJsonObject(at) && !Object.hasOwn(at, step) && Object.hasOwn(at, `${step}_file`);
    const isUpload = step === "file_hash";
    found.push(isNamed ? `${step}_file` : isUpload ? "file" : step);
    at = (at as Record<string | number, unknown> | null | undefined)?.[step];
  }
  return found;
}

function findRepeated(companions: readonly FileCompanion[]): FileFault[] {
  const first = new Map<JsonValue | undefined, FileCompanion>();
  const faults: FileFault[] = [];
  for (const companion of companions) {
    const { slug } = companion.entry;
    if (slug == null) continue;
    const other = first.get(slug);
    if (other === undefined) first.set(slug, companion);
    else {
      const sentence = `The slug ${JSON.stringify(slug)} is that of ${other.file}, line ${other.lineOf(["slug"])}, too.`;
      faults.push({ file: companion.file, line: companion.lineOf(["slug"]), sentence });
    }
  }
  return faults;
}
