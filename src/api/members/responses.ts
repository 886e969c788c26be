/** Responses of the member routes: their schemas, created on first use, and the conversion into them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { memberRoles, type Member as StoredMember } from "../../domain/member.ts";
import { closedObject, instant, namedObject } from "../../http/schemas/named-object.ts";
import { Nullable, OneOf } from "../../http/schemas/schema.ts";
import { toNullableRfc3339, toRfc3339 } from "../../lib/clock.ts";

const memberFields = () => ({
  id: t.String({ format: "uuid", description: "The account's id for its own sign-in." }),
  email: t.String({ examples: ["grace@shop.example"] }),
  name: Nullable(
    t.String({
      description: "Shown to visitors; null for an own sign-in without one: they read the companion's name.",
      examples: ["Grace"],
    }),
  ),
  role: OneOf(memberRoles),
  companion_ids: Nullable(
    t.Array(t.String({ format: "uuid" }), { description: "The only companions that they see; null: all." }),
  ),
  notify: t.Object({
    mail: t.Boolean({ description: "Whether they are sent an e-mail when a visitor waits for a person." }),
    words: t.Boolean({ description: "Whether such mails contain what visitors wrote." }),
  }),
  has_totp: t.Boolean({ description: "Whether their sign-in takes a second factor." }),
  joined_at: Nullable(instant("When they accepted the invitation; null until then.")),
  created_at: instant("When they were invited."),
});

export const MemberObject = closedObject("Member", memberFields);
export type Member = Static<typeof MemberObject>;

const link = () =>
  t.String({
    format: "uri",
    description: "With it they choose a password and sign in, once, within seven days. Only its hash is stored.",
    examples: ["https://companions.example/app/invitation#3mN0pQ7xVb2LkT9wYc4HsD1fGj6ZaR8uEi5XoBtWqMn"],
  });

export const InvitedMember = closedObject("InvitedMember", () => ({
  ...memberFields(),
  url: t.Optional(link()),
}));
export type InvitedMember = Static<typeof InvitedMember>;

export const MemberLink = namedObject("MemberLink", () => ({
  url: link(),
  expires_at: t.String({ format: "date-time" }),
}));
export type MemberLink = Static<typeof MemberLink>;

export function toWireMember(member: StoredMember): Member {
  const { id, email, name, role, companionIds, notify } = member;
  return {
    ...{ id, email, name, role, companion_ids: companionIds && [...companionIds] },
    notify: { ...notify },
    has_totp: member.totpConfirmedAt !== null,
    joined_at: toNullableRfc3339(member.joinedAt),
    created_at: toRfc3339(member.createdAt),
  };
}
