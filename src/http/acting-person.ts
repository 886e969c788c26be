/** Who of the team makes a call: the session's member, or whom an API key names in the body's `as`. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { Services } from "../core/dependencies.ts";
import type { Principal } from "../domain/account.ts";
import { invalidFields } from "../domain/errors.ts";
import { type Person, personIdOfKey } from "../domain/handoff.ts";
import { isName } from "../domain/name.ts";
import { valueQuery } from "./query.ts";
import { Nullish, Text } from "./schemas/schema.ts";

const maxNameLength = 60;
const maxIdLength = 128;

export const describeAs = () =>
  t.Optional(
    t.Object(
      {
        name: Text({
          ...{ minLength: 1, maxLength: maxNameLength, accepts: isName },
          problem: `Must be 1 to ${maxNameLength} characters of well-formed text without NUL, and not only white space.`,
          ...{ description: "Shown to visitors.", examples: ["Grace"] },
        }),
        id: Nullish(
          Text({
            ...{ minLength: 1, maxLength: maxIdLength, examples: ["user-42"] },
            description: "Your own id of the person; without it the name is the id.",
          }),
        ),
      },
      {
        additionalProperties: false,
        description:
          "The person for whom an API key calls. Keys must send it; sessions are their member, and must not.",
      },
    ),
  );

type As = Static<ReturnType<typeof describeAs>> | undefined;

/** Throws `invalid_request` naming `as`. */
export async function actingPerson({ store }: Pick<Services, "store">, principal: Principal, as: As): Promise<Person> {
  if (principal.keyId !== null) {
    if (as === undefined)
      throw invalidFields([{ param: "as", detail: "An API key must name the person it acts for." }]);
    return { id: personIdOfKey(principal.keyId, as), name: as.name, memberId: null, keyId: principal.keyId };
  }
  if (as !== undefined) throw invalidFields([{ param: "as", detail: "A session acts for its own member alone." }]);
  const { account, member } = principal;
  const { id, name } = member ?? (await store.members.find(account.id, account.id)) ?? { id: account.id, name: null };
  return { id, name, memberId: id, keyId: null };
}

/** For lists: whose `unread` an API key asks for. */
export const readerQuery = valueQuery(
  "as",
  () =>
    Text({
      ...{ minLength: 1, maxLength: maxIdLength, examples: ["user-42"] },
      description: "For API keys: the `as.id`, or else `as.name`, of the person whose `unread` it is.",
    }),
  (text) => (text.length >= 1 && text.length <= maxIdLength ? text : undefined),
  `Must be 1 to ${maxIdLength} characters.`,
);

/** The id of the reader; null for an API key that names no one. Throws `invalid_request` for a session that does. */
export function readingPersonId(principal: Principal, as: string | null): string | null {
  if (principal.keyId !== null) return as === null ? null : personIdOfKey(principal.keyId, { name: as });
  if (as !== null) throw invalidFields([{ param: "as", detail: "A session reads for its own member alone." }]);
  return principal.member?.id ?? principal.account.id;
}
