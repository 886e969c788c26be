/** What is sent to be known: a text, an address or a file, checked. */

import { findKind } from "../../core/knowledge/reading/kind.ts";
import { AppError, invalidFields } from "../../domain/errors.ts";
import { type DocumentKind, maxUploadBytes, type SourceType } from "../../domain/knowledge.ts";
import type { JsonBody } from "../../http/json-body.ts";
import { omitReadOnly } from "../../http/schemas/named-object.ts";
import { toTitle } from "../../http/schemas/source-fields.ts";
import { formType, SentFile, takeUpload } from "../../http/upload-body.ts";
import { LongText } from "../../lib/long-json.ts";
import { newFileBody, newSourceBodies, sourceSchemas } from "./model.ts";
import { SourceObject } from "./responses.ts";

export interface SentSource {
  type: SourceType;
  title: string;
  url: string | null;
  refreshHours: number | null;
  /** Left out if it was not sent: then a source keeps its own. */
  slug?: string | null;
  /** Null for what is fetched. */
  content: SentContent | null;
}

export interface SentContent {
  kind: DocumentKind;
  bytes: Uint8Array;
}

const textExample = {
  type: "text",
  title: "Shipping and returns",
  text: "# Returns\n\nYou may return what you bought within 30 days.",
  url: "https://shop.example/returns",
};

/** JSON, or a form with a file. `readSource` checks it. */
export const sourceBody: JsonBody<unknown> = {
  checker: {
    get schema() {
      return sourceSchemas.json;
    },
  },
  get forms() {
    return {
      "application/json": { schema: sourceSchemas.json, example: textExample },
      [formType]: { schema: sourceSchemas.form, example: { file: "(the bytes of returns.pdf)", title: "Returns" } },
    };
  },
  limitBytes: maxUploadBytes,
  isOptional: false,
  check: (sent) => sent,
  take: takeUpload,
};

/** Throws `invalid_request` with every field at fault, `unsupported_media_type` and `payload_too_large`. */
export function readSource(sent: unknown): SentSource {
  const isForm = typeof sent === "object" && sent !== null && "file" in sent && sent.file instanceof SentFile;
  if (isForm) return readFile(sent);
  const { type } = (sent ?? {}) as { type?: unknown };
  switch (type) {
    case "text":
      return readText(sent as object);
    case "url":
    case "sitemap":
      return readAddress(newSourceBodies[type].check(omitReadOnly(sent, newSourceBodies[type], SourceObject)));
    default:
      throw refuseType(sent, type);
  }
}

function refuseType(sent: unknown, type: unknown): AppError {
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) {
    return new AppError("invalid_request", "The request body must be a JSON object.");
  }
  if ("file" in sent || type === "file") {
    return invalidFields([{ param: "file", detail: `Send the file, with its name, as ${formType}.` }]);
  }
  return invalidFields([
    { param: "type", detail: `Must be one of: text, url, sitemap. A file is sent as ${formType}, in the field file.` },
  ]);
}

type SentAddress = { type: "url" | "sitemap"; url: string; refresh_hours?: number | null; slug?: string | null };

function readAddress({ type, url, refresh_hours: refreshHours = null, slug }: SentAddress): SentSource {
  return { type, url, title: toTitle(url), refreshHours, ...slugOf(slug), content: null };
}

function readText(sent: { text?: unknown }): SentSource {
  const long = sent.text instanceof LongText ? sent.text : null;
  const short = long === null ? sent : { ...sent, text: "" };
  const body = newSourceBodies.text;
  const { type, title, text, url = null, slug } = body.check(omitReadOnly(short, body, SourceObject));
  const bytes = long?.bytes ?? Buffer.from(text);
  refuseLarge(bytes);
  return { type, title: toTitle(title), url, refreshHours: null, ...slugOf(slug), content: { kind: "text", bytes } };
}

function readFile(sent: unknown): SentSource {
  const { file, title, url = null, slug } = newFileBody.check(sent);
  refuseLarge(file.bytes);
  const kind = findKind(file.contentType, file.name, file.bytes);
  if (kind === null) {
    throw new AppError(
      "unsupported_media_type",
      "Send a PDF, DOCX, HTML, Markdown, text or CSV file; others are not read.",
    );
  }
  const content = { kind, bytes: file.bytes };
  const name = toTitle(title ?? lastPart(file.name));
  return { type: "file", title: name, url, refreshHours: null, ...slugOf(slug), content };
}

function slugOf(slug: string | null | undefined): Pick<SentSource, "slug"> {
  return slug === undefined ? {} : { slug };
}

function refuseLarge(bytes: Uint8Array): void {
  if (bytes.length <= maxUploadBytes) return;
  throw new AppError("payload_too_large", `A source has at most ${maxUploadBytes / 1024 / 1024} MiB.`);
}

/** Some clients send the whole path. */
function lastPart(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
