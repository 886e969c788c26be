/** Puts what is known of a visitor into the companion's instructions: `{{visitor.name}}`, `{{visitor.attributes.plan}}`. */
import type { Companion } from "./companion.ts";
import type { JsonValue } from "./json.ts";
import type { VisitorClaims } from "./visitor.ts";

const placeholder = /\{\{([^{}]*)\}\}/g;
const prefix = "visitor.";

/** One attribute may be named many times, and the operator pays for the prompt. */
const maxInsertedBytes = 32 * 1024;

/** The companion as the model gets it, for this visitor or for one who is not known; itself if nothing is to be put in. */
export function instructFor<Instructed extends Pick<Companion, "systemPrompt" | "visitorAuth">>(
  companion: Instructed,
  claims: VisitorClaims | null,
): Instructed {
  const { systemPrompt, visitorAuth } = companion;
  // Under `off`, a visitor is known only where an API key vouches for one.
  const isOff = visitorAuth === "off" && claims === null;
  if (isOff || systemPrompt === null || !systemPrompt.includes("{{")) return companion;
  return { ...companion, systemPrompt: fillIn(systemPrompt, claims) };
}

/** In one pass: what a visitor is called can have the form of a placeholder, and is text all the same. */
function fillIn(prompt: string, claims: VisitorClaims | null): string {
  let spareBytes = maxInsertedBytes;
  return prompt.replace(placeholder, (whole, inner: string) => {
    const path = inner.trim();
    if (!path.startsWith(prefix)) return whole;
    const text = claims === null ? "" : toText(find(claims, path.slice(prefix.length)));
    const bytes = Buffer.byteLength(text, "utf8");
    if (bytes > spareBytes) return "";
    spareBytes -= bytes;
    return text;
  });
}

function find({ name, email, attributes }: VisitorClaims, path: string): JsonValue {
  let value: JsonValue = { name, email, attributes };
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return null;
    value = (value as { [key: string]: JsonValue })[part] ?? null;
  }
  return value;
}

function toText(value: JsonValue): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
