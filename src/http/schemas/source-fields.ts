/** What owners set of sources on the wire: routes of sources, and all that writes companions as a whole. */
import { Type as t } from "@sinclair/typebox";
import { isSourceUrl, maxSourceUrlLength, sourceUrlProblem } from "../../domain/knowledge.ts";
import { slugText } from "./name.ts";
import { Nullish, Text } from "./schema.ts";

const maxTitleLength = 200;

/** For texts that are nothing without a word. */
export const findBlank = (text: string) => (text.trim() === "" ? "Must not be only white space." : null);

export const titleText = (description: string) =>
  Text({
    minLength: 1,
    maxLength: maxTitleLength,
    // Replies would cite it as nothing.
    findProblem: findBlank,
    description,
    examples: ["Shipping and returns"],
  });

export const urlText = (description: string, example: string) =>
  Text({
    maxLength: maxSourceUrlLength,
    accepts: isSourceUrl,
    problem: sourceUrlProblem,
    description,
    examples: [example],
  });

export const shownUrl = () => urlText("Where visitors find it; not read.", "https://shop.example/returns");

export const refreshHours = () =>
  t.Integer({
    minimum: 1,
    maximum: 720,
    description: "How often it is read again; left out: when asked to.",
    examples: [24],
  });

/** One line, within the limit. */
export function toTitle(text: string): string {
  const clean = text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return [...clean.slice(0, maxTitleLength * 2)].slice(0, maxTitleLength).join("") || "Untitled";
}

export const sourceSlug = () =>
  slugText("What files call it, unique in the companion: otherwise 409 `conflict`. Not set: no file does.", "returns");

/** For JSON; a form has no null. */
export const slugField = () => ({ slug: Nullish(sourceSlug()) });
