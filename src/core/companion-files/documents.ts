/** Reads the documents of a file that people keep in a repository, strictly: YAML, or JSON by the file's name. */
import type { JsonValue } from "../../domain/json.ts";
import { readJson } from "./json-document.ts";
import { type FileFault, isUnread, lineOf, type MarkedValue } from "./marked-value.ts";

export const maxFileBytes = 1024 * 1024;

export interface FileDocument {
  readonly value: JsonValue;
  /** From 1: of a member's name, or an item; of the nearest that holds it where it is missing. */
  lineOf(path: readonly (string | number)[]): number;
  /** Whether what is there could not be read, which is among the faults. */
  isUnread(path: readonly (string | number)[]): boolean;
}

export interface FileDocuments {
  readonly isJson: boolean;
  /** All that can be read: what has a fault is there as far as it can be, and null otherwise. */
  readonly documents: readonly FileDocument[];
  readonly faults: readonly FileFault[];
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text as it stands, or what is wrong with its bytes. */
export function decodeFile(file: string, bytes: Uint8Array): { text: string } | { fault: FileFault } {
  const fault = (line: number, sentence: string) => ({ fault: { file, line, sentence } });
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return fault(1, "Begins with a byte order mark.");
  try {
    return { text: strictUtf8.decode(bytes) };
  } catch {
    return fault(findBadLine(bytes), "Is not UTF-8.");
  }
}

function findBadLine(bytes: Uint8Array): number {
  const newline = 10;
  for (let start = 0, line = 1; ; line++) {
    const end = bytes.indexOf(newline, start);
    if (end === -1) return line;
    try {
      strictUtf8.decode(bytes.subarray(start, end));
    } catch {
      return line;
    }
    start = end + 1;
  }
}

/** `file`: its name, in faults, and what decides how it is read. The library is loaded for YAML. */
export async function readDocuments(file: string, bytes: Uint8Array): Promise<FileDocuments> {
  const isJson = /\.json$/i.test(file);
  const faults: FileFault[] = [];
  const report = (line: number, sentence: string) => {
    const isKnown = faults.some((fault) => fault.line === line && fault.sentence === sentence);
    if (!isKnown && faults.length < maxFaults) faults.push({ file, line, sentence });
  };
  const answer = (read: readonly MarkedValue[]) => {
    const documents = read.map(({ value, mark }) => ({
      value,
      lineOf: (path: readonly (string | number)[]) => lineOf(mark, path),
      isUnread: (path: readonly (string | number)[]) => isUnread(mark, path),
    }));
    if (documents.length === 0 && faults.length === 0) report(1, "Has nothing in it.");
    return { isJson, documents, faults };
  };
  if (bytes.length > maxFileBytes) {
    report(1, `Is larger than ${maxFileBytes / 1024 ** 2} MiB.`);
    return answer([]);
  }
  const decoded = decodeFile(file, bytes);
  if ("fault" in decoded) return { isJson, documents: [], faults: [decoded.fault] };
  const { text } = decoded;
  if (!isJson) {
    const { readYaml } = await import("./yaml-documents.ts");
    try {
      return answer(readYaml(text, report));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // The library calls itself for each level.
      report(1, "Is nested too deeply.");
      return answer([]);
    }
  }
  if (text.trim() === "") return answer([]);
  const lineAt = openLines(text);
  const read = readJson(text, lineAt, (offset, sentence) => report(lineAt(offset), sentence));
  return answer(read === null ? [] : [read]);
}

/** More would say no more. */
const maxFaults = 100;

/** The line of an offset. */
function openLines(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
