/** Reads YAML strictly: the core schema of 1.2, without anything that makes a value other than what is written there. */
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
} from "yaml";
import type { JsonValue } from "../../domain/json.ts";
import { findNumberFault, type Mark, type MarkedValue, maxDepth, noParts } from "./marked-value.ts";

type Report = (line: number, sentence: string) => void;

const notJson = "Is not a value that JSON knows.";
const emptyValue = "Has no value: write null, or leave the field out.";

/** All documents that are YAML; faults within one are reported, and what has one is read as far as it can be. */
export function readYaml(text: string, report: Report): MarkedValue[] {
  const lines = new LineCounter();
  // Names are compared below: the library would compare each with all others.
  const options = { schema: "core", uniqueKeys: false, prettyErrors: false, lineCounter: lines } as const;
  const parsed = parseAllDocuments(text, { ...options, version: "1.2", merge: false, logLevel: "silent" });
  const documents = Array.isArray(parsed) ? parsed : [];
  let firstDirective = 0;
  // Found once: a file may have a directive before each of a hundred thousand documents.
  const directiveLine = () => {
    firstDirective ||= Math.max(text.split("\n").findIndex((one) => one.startsWith("%")) + 1, 1);
    return firstDirective;
  };
  return documents.flatMap((document) => {
    const lineAt = (offset: number) => lines.linePos(offset).line;
    const errors = document.errors.filter(({ code }) => code !== "TAG_RESOLVE_FAILED");
    for (const { pos, message } of errors) {
      report(lineAt(pos[0]), `Is not valid YAML: ${message.replace(/\.*$/, "")}.`);
    }
    // What was guessed of the rest would be reported as if it were written there.
    if (errors.length > 0) return [];
    if (hasDirectives(document)) report(directiveLine(), "Directives are not read: files are YAML 1.2.");
    const start = document.contents?.range?.[0] ?? document.range[0];
    return [toMarked(document.contents, lineAt(start), 1, { lineAt, report })];
  });
}

const tagFault = "Tags such as !!str are not read: write the value as it is meant, texts in quotes.";

function hasDirectives({ directives }: Document): boolean {
  const isOther = directives?.yaml.explicit === true && directives.yaml.version !== "1.2";
  return isOther || Object.keys(directives?.tags ?? {}).some((handle) => handle !== "!!");
}

interface Reading {
  lineAt(offset: number): number;
  report: Report;
}

/** `line`: of its name, or its own. */
function toMarked(node: Node | null | undefined, line: number, depth: number, reading: Reading): MarkedValue {
  const { report } = reading;
  const refuse = (sentence: string): MarkedValue => {
    report(line, sentence);
    return { value: null, mark: { line, parts: noParts, isUnread: true } };
  };
  if (depth > maxDepth) return refuse("Is nested too deeply.");
  if (isAlias(node)) return refuse("Aliases are not read: write the value out.");
  if (node == null) return refuse(emptyValue);
  if ("anchor" in node && node.anchor) report(line, "Anchors are not read: write the value out where it is needed.");
  if (node.tag) report(line, tagFault);
  if (isMap(node)) return toObject(node.items, line, depth, reading);
  if (isSeq(node)) return toList(node.items, line, depth, reading);
  if (!isScalar(node)) return refuse(notJson);
  return toScalar(node.value, node.source, line, report);
}

function toScalar(value: unknown, source: string | undefined, line: number, report: Report): MarkedValue {
  const isEmpty = value === null && source === "";
  const isJson = value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  const fault = isEmpty ? emptyValue : typeof value === "number" ? findNumberFault(value) : isJson ? null : notJson;
  if (fault === null) return { value: value as JsonValue, mark: { line, parts: noParts } };
  report(line, fault);
  return { value: null, mark: { line, parts: noParts, isUnread: true } };
}

function toList(items: readonly unknown[], line: number, depth: number, reading: Reading): MarkedValue {
  const values: JsonValue[] = [];
  const parts = new Map<number, Mark>();
  for (const item of items) {
    const pair = isPair(item) ? item : null;
    const node = (pair === null ? item : pair.key) as Node | null;
    const at = node?.range == null ? line : reading.lineAt(node.range[0]);
    // `[a: 1]` is a list of objects.
    const read = pair === null ? toMarked(node, at, depth + 1, reading) : toObject([pair], at, depth + 1, reading);
    parts.set(values.length, read.mark);
    values.push(read.value);
  }
  return { value: values, mark: { line, parts } };
}

function toObject(pairs: readonly Pair[], line: number, depth: number, reading: Reading): MarkedValue {
  const members = new Map<string, JsonValue>();
  const parts = new Map<string, Mark>();
  for (const { key, value } of pairs) {
    const name = key as Node | null;
    const at = name?.range == null ? line : reading.lineAt(name.range[0]);
    const text = isScalar(name) && typeof name.value === "string" ? name.value : null;
    if (text === null) {
      reading.report(at, "A name must be text: put it in quotes.");
      continue;
    }
    if (isScalar(name) && (name.anchor || name.tag)) reading.report(at, "Anchors and tags are not read.");
    if (text === "<<" && isScalar(name) && name.type === "PLAIN") {
      reading.report(at, "Merge keys are not read: write the fields out.");
    }
    if (members.has(text)) reading.report(at, `${JSON.stringify(text)} is written twice.`);
    const read = toMarked(value as Node | null, at, depth + 1, reading);
    parts.set(text, read.mark);
    members.set(text, read.value);
  }
  // Not by assignment: a member may be called `__proto__`.
  return { value: Object.fromEntries(members), mark: { line, parts } };
}
