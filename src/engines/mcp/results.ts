/** What a call's result comes to: a text for the model, within bounds. */
import type { CallAnswer } from "../../contracts/tool-servers.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { maxResultBytes } from "../../domain/tool.ts";
import { failures } from "./failures.ts";
import type { Failure } from "./messages.ts";

/** Of a tool's report of its own failure. */
const maxSentenceBytes = 2048;
const cutMark = "\n[The rest of the result is left out.]";

export function readCallResult({ result }: { readonly result: JsonObject }): CallAnswer {
  const { resultType = "complete", isError } = result;
  if (resultType === "input_required") return toFailed(failures.asking);
  const text = resultType === "complete" ? readContent(result) : null;
  if (text === null) return toFailed(failures.garbled);
  if (isError !== true) return { outcome: "done", result: cutText(text, maxResultBytes) };
  const sentence = text.trim() === "" ? failures.reported : cutText(text, maxSentenceBytes);
  return { outcome: "failed", sentence, reason: failures.reported };
}

export function toFailed({ sentence, reason }: Failure): CallAnswer {
  return { outcome: "failed", sentence, reason };
}

/** Well-formed, and without NUL, which PostgreSQL does not take. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** Null where it is none. */
function readContent({ content, structuredContent }: JsonObject): string | null {
  if (content !== undefined && !Array.isArray(content)) return null;
  const parts = content ?? [];
  if (structuredContent !== undefined && !parts.some((part) => readText(part) !== null)) {
    return cleanText(JSON.stringify(structuredContent));
  }
  if (content === undefined) return null;
  return cleanText(parts.map((part) => readText(part) ?? nameContent(part)).join("\n"));
}

function readText(part: JsonValue): string | null {
  if (!isJsonObject(part)) return null;
  const { type, resource } = part;
  const text = type === "resource" && isJsonObject(resource) ? resource["text"] : type === "text" ? part["text"] : null;
  return typeof text === "string" ? text : null;
}

/** The model learns that there was something, and none of it. */
function nameContent(part: JsonValue): string {
  const { type, uri } = isJsonObject(part) ? part : {};
  if (type === "resource_link" && typeof uri === "string") return `[link: ${uri.slice(0, 2048)}]`;
  if (type === "image" || type === "audio") return `[${type}]`;
  return type === "resource" ? "[file]" : "[something that cannot be shown]";
}

/** Ends between two characters. */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes - cutMark.length;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end) + cutMark;
}
