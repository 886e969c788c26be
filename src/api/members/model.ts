/** What is sent to invite and change members. */
import { type Static, Type as t } from "@sinclair/typebox";
import { maxMemberCompanions, maxMemberNameLength, memberRoles } from "../../domain/member.ts";
import { isName } from "../../domain/name.ts";
import { emailText } from "../../http/schemas/account.ts";
import { compileBody, Nullable, OneOf, Text, uuidPattern } from "../../http/schemas/schema.ts";

const memberName = () =>
  Text({
    minLength: 1,
    maxLength: maxMemberNameLength,
    accepts: isName,
    problem: `Must be 1 to ${maxMemberNameLength} characters of well-formed text without NUL, and not only white space.`,
    description: "Shown to the visitors whom they answer.",
    examples: ["Grace"],
  });

const memberRole = () =>
  OneOf(memberRoles, {
    description: "An owner may do what the account's own sign-in may; a responder reads, and answers visitors.",
  });

const memberCompanions = () =>
  Nullable(
    t.Array(Text({ pattern: uuidPattern, problem: "Must be the id of a companion." }), {
      maxItems: maxMemberCompanions,
      description:
        "The only companions that they see, also as an owner; null: all of the account, later ones included.",
      examples: [["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"]],
    }),
  );

export const newMemberBody = compileBody("NewMember", () => ({
  email: emailText(),
  name: memberName(),
  role: memberRole(),
  companion_ids: t.Optional(memberCompanions()),
}));

export const memberPatchBody = compileBody("MemberPatch", () => ({
  name: t.Optional(memberName()),
  role: t.Optional(memberRole()),
  companion_ids: t.Optional(memberCompanions()),
}));
export type MemberPatchBody = Static<typeof memberPatchBody.schema>;

export const ownMemberPatchBody = compileBody("OwnMemberPatch", () => ({
  name: t.Optional(memberName()),
  notify: t.Optional(
    t.Object({
      mail: t.Optional(
        t.Boolean({ description: "Whether they are sent an e-mail when a visitor waits for a person." }),
      ),
      words: t.Optional(t.Boolean({ description: "Whether such mails contain what visitors wrote." })),
    }),
  ),
}));
export type OwnMemberPatchBody = Static<typeof ownMemberPatchBody.schema>;
