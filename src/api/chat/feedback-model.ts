/** What visitors leave for the team, as a widget sends it, and a platform for its visitors. */
import { type Static, type TProperties, Type as t } from "@sinclair/typebox";
import { normalizeEmail } from "../../domain/email.ts";
import { maxComment, ratingReasons } from "../../domain/feedback.ts";
import { nullishUuid } from "../../http/schemas/chat-message.ts";
import { checkWith, compileChecker, Nullable, Nullish, OneOf, Text, uuidPattern } from "../../http/schemas/schema.ts";
import { describeVisitor, listVisitorFaults } from "../../http/schemas/visitor.ts";

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

/** What a widget sends, and the same with the visitor for whom a platform vouches. */
function makeCheckers<Properties extends TProperties>(describe: () => Properties, name: string) {
  const own = compileChecker(() => t.Object(describe(), { $id: name }));
  const description = "As on the public route, with the visitor for whom the platform vouches.";
  const relayed = compileChecker(() =>
    t.Object({ ...describe(), ...describeVisitor() }, { $id: `Key${name}`, description }),
  );
  return { own, relayed, checkRelayed: (sent: unknown) => checkWith(relayed, sent, listVisitorFaults(sent)) };
}

export const contactRequests = makeCheckers(describeContact, "ContactRequest");
export type ContactRequest = Static<(typeof contactRequests)["own"]["schema"]>;

export const ratingRequests = makeCheckers(describeRating, "RatingRequest");
export type RatingRequest = Static<(typeof ratingRequests)["own"]["schema"]>;

export const resolvedRequests = makeCheckers(describeResolved, "ResolvedRequest");
export type ResolvedRequest = Static<(typeof resolvedRequests)["own"]["schema"]>;
