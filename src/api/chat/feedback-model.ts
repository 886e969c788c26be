/** What visitors leave for the team, as a widget sends it, and a platform for its visitors. */
import { Type as t } from "@sinclair/typebox";
import { normalizeEmail } from "../../domain/email.ts";
import { maxComment, ratingReasons } from "../../domain/feedback.ts";
import { nullishUuid } from "../../http/schemas/chat-message.ts";
import { Nullable, Nullish, OneOf, Text, uuidPattern } from "../../http/schemas/schema.ts";
import { makeBodies } from "./model.ts";

/** One address that stands in a header as it is. */
const plainAddress = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+\.[^\s@<>,;:"()[\]\\]+$/;

const describeIds = () => ({
  session_id: Text({
    pattern: uuidPattern,
    problem: "Must be a UUID.",
    description: "The conversation's id, as sent with its messages.",
    examples: ["7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10"],
  }),
  visitor_id: nullishUuid("The visitor's id, as sent with messages. Ignored for verified visitors."),
});

const describeContact = () => ({
  ...describeIds(),
  email: Text({
    maxLength: 254,
    accepts: (text) => normalizeEmail(text) !== null && plainAddress.test(text.trim()),
    problem: "Must be an e-mail address.",
    examples: ["ada@example.com"],
  }),
  name: Nullish(Text({ maxLength: 200, examples: ["Ada"] })),
  message: Nullish(Text({ maxLength: 4000, examples: ["Do you repair bicycles?"] })),
  consent: t.Literal(true, { description: "The visitor agrees to the `consent_text` of the configuration." }),
});

const describeRating = () => ({
  ...describeIds(),
  rating: Nullable(OneOf(["up", "down"] as const, { description: "Null takes the rating back." })),
  reasons: Nullish(t.Array(OneOf(ratingReasons), { maxItems: ratingReasons.length, examples: [["incomplete"]] })),
  comment: Nullish(Text({ maxLength: maxComment, examples: ["It does not say when."] })),
});

const describeResolved = () => ({
  ...describeIds(),
  resolved: Nullable(t.Boolean({ description: "Null takes the word back." })),
});

export const contactBodies = makeBodies("ContactRequest", describeContact);
export const ratingBodies = makeBodies("RatingRequest", describeRating);
export const resolvedBodies = makeBodies("ResolvedRequest", describeResolved);
