/** The visitor that a platform names, for whom it vouches. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { FieldError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { areAttributes, isSub, maxSubLength, type VisitorClaims } from "../../domain/visitor.ts";
import { AnyObject, Nullish, Text } from "./schema.ts";

const usual = "Who the visitor is. The key vouches for it: it counts as verified, and `visitor_id` is ignored.";

export const describeVisitor = (description = usual) => ({
  visitor: Nullish(
    t.Object(
      {
        sub: Text({
          accepts: isSub,
          problem: `Must be 1 to ${maxSubLength} characters of well-formed text without NUL, and neither . nor ..`,
          description: `The platform's own name for the visitor: 1 to ${maxSubLength} characters.`,
          examples: ["user-42"],
        }),
        name: Nullish(Text({ maxLength: 1000, examples: ["Grace"] })),
        email: Nullish(Text({ maxLength: 1000, examples: ["grace@example.com"] })),
        attributes: Nullish(attributesObject()),
      },
      { description },
    ),
  ),
});

type Visitor = Static<ReturnType<typeof describeVisitor>["visitor"]>;
interface VisitorBody {
  readonly visitor?: Visitor;
}

function attributesObject() {
  return AnyObject({
    description: "What else is known of the visitor: at most 2 KiB of UTF-8 JSON.",
    examples: [{ plan: "pro" }],
  });
}

/** Null if it names no one. */
export function toClaims({ visitor }: VisitorBody): VisitorClaims | null {
  if (visitor == null) return null;
  const { sub, name = null, email = null, attributes } = visitor;
  return { sub, name, email, attributes: attributes ?? {} };
}

/** What the schema does not say of attributes; the rest of them may not have been checked. */
export function listVisitorFaults(sent: unknown): FieldError[] {
  const attributes: unknown = (sent as VisitorBody | null)?.visitor?.attributes ?? {};
  if (typeof attributes !== "object" || attributes === null || areAttributes(attributes as JsonObject)) return [];
  const detail = "Must be at most 2 KiB of JSON, not too deep, with well-formed texts without NUL characters.";
  return [{ param: "visitor.attributes", detail }];
}
