/** What is sent to become knowledge, and to search it. */
import { type TSchema, Type as t } from "@sinclair/typebox";
import { passagesPerTurn } from "../../domain/knowledge.ts";
import { compileBody, compileChecker, Nullish, Text } from "../../http/schemas/schema.ts";
import {
  findBlank,
  refreshHours,
  shownUrl,
  slugField,
  sourceSlug,
  titleText,
  urlText,
} from "../../http/schemas/source-fields.ts";
import type { SentFile } from "../../http/upload-body.ts";

const maxQueryLength = 2_000;
const maxFound = 100;

const fetchedFields = (type: "url" | "sitemap", description: string, example: string) => ({
  type: t.Literal(type),
  url: urlText(description, example),
  refresh_hours: Nullish(refreshHours()),
  ...slugField(),
});

const strict = { additionalProperties: false };

/** One for each type, since a schema of their union could not say which field is at fault. */
export const newSourceBodies = {
  text: compileBody("NewTextSource", () => ({
    type: t.Literal("text"),
    title: titleText("What replies cite it as."),
    text: Text({
      description: "Plain text or Markdown, at most 20 MiB of UTF-8.",
      examples: ["# Returns\n\nYou may return what you bought within 30 days."],
    }),
    url: Nullish(shownUrl()),
    ...slugField(),
  })),
  url: compileChecker(() =>
    t.Object(fetchedFields("url", "The page or document that is read.", "https://shop.example/returns"), {
      $id: "NewUrlSource",
      ...strict,
      description: "Its title is the URL, until the page is read and gives its own.",
    }),
  ),
  sitemap: compileChecker(() =>
    t.Object(fetchedFields("sitemap", "The sitemap whose pages are read.", "https://shop.example/sitemap.xml"), {
      $id: "NewSitemapSource",
      ...strict,
      description: "At most 500 pages of the same origin.",
    }),
  ),
};

/** A file that a form holds; the document shows it as bytes. */
const fileField = () =>
  t.Unsafe<SentFile>(
    t.Any({
      type: "string",
      format: "binary",
      contentMediaType: "application/octet-stream",
      description: "PDF, DOCX, HTML, Markdown, plain text or CSV, at most 20 MiB.",
    }),
  );

export const newFileBody = compileBody("NewFileSource", () => ({
  file: fileField(),
  type: t.Optional(t.Literal("file")),
  title: t.Optional(titleText("What replies cite it as; left out: the file's name.")),
  url: t.Optional(shownUrl()),
  slug: t.Optional(sourceSlug()),
}));

export const searchBody = compileBody("KnowledgeSearch", () => ({
  query: Text({
    minLength: 1,
    maxLength: maxQueryLength,
    description: "As a visitor would ask.",
    examples: ["How long do I have to return something?"],
  }),
  limit: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: maxFound,
      default: passagesPerTurn,
      description: "The most passages to return.",
    }),
  ),
}));

export const answerBody = compileBody("QuestionAnswer", () => ({
  text: Text({
    minLength: 1,
    // The question leaves the list: an answer that cannot be read would be the end of it.
    findProblem: findBlank,
    description: "The answer: plain text or Markdown, not only white space.",
    examples: ["We ship to Norway for 12 euros."],
  }),
}));

/** What is sent, for the API document. */
export const sourceSchemas: { json: TSchema; form: TSchema } = {
  get json() {
    return t.Union(Object.values(newSourceBodies).map(({ schema }) => schema));
  },
  get form() {
    return newFileBody.schema;
  },
};
