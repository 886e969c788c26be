/** Responses of the companion routes: their schemas, created on first use, and the conversion into them. */

import { type Static, type TNull, type TSchema, type TUnion, Type as t } from "@sinclair/typebox";
import type { Principal } from "../../domain/account.ts";
import { avatarPath } from "../../domain/avatar.ts";
import {
  newCompanionSettings,
  type Companion as StoredCompanion,
  type EmbedToken as StoredToken,
} from "../../domain/companion.ts";
import { closedObject, instant, namedObject } from "../../http/schemas/named-object.ts";
import { ProblemObject } from "../../http/schemas/problem.ts";
import { Nullable } from "../../http/schemas/schema.ts";
import { toNullableRfc3339, toRfc3339 } from "../../lib/clock.ts";
import { later } from "../../lib/later.ts";
import { companionFields, toWireSettings, type WireSettings } from "./fields.ts";

const id = later(() => t.String({ format: "uuid", examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] }));

type ShownFields<Settings extends Partial<Record<keyof WireSettings, TSchema>>> = {
  [Name in keyof Settings & keyof WireSettings]: null extends WireSettings[Name]
    ? TUnion<[NonNullable<Settings[Name]>, TNull]>
    : NonNullable<Settings[Name]>;
};

/** What owners set, as it is shown. */
export const makeSettingsFields = () => {
  const { name, settings } = companionFields();
  const unset: Record<string, unknown> = toWireSettings(newCompanionSettings(""));
  const shown = Object.fromEntries(
    Object.entries(settings).map(([wire, schema]) => [wire, unset[wire] === null ? Nullable(schema) : schema]),
  ) as ShownFields<typeof settings>;
  return { name, ...shown };
};

const makeCompanionFields = () => ({
  id,
  slug: Nullable(t.String({ description: "What files call it; null for none.", examples: ["support"] })),
  ...makeSettingsFields(),
  embed_token: Nullable(
    t.String({
      description: "The oldest embed token that is still valid; null when all were revoked.",
      examples: ["emb_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa"],
    }),
  ),
  avatar: Nullable(
    t.Object(
      {
        url: t.String({ description: "On this server.", examples: ["/avatars/0123456789abcdef0123456789abcdef.webp"] }),
        bytes: t.Integer({ examples: [18_000] }),
      },
      { description: "The avatar that was uploaded. `avatar_url` comes first." },
    ),
  ),
  seen_on: t.Array(
    t.Object({
      origin: t.String({ examples: ["https://shop.example"] }),
      first_seen_at: instant("When a page of it first loaded the companion."),
      last_seen_at: instant("The same for the last time, noted once a UTC day."),
    }),
    { description: "Websites whose pages have loaded it, newest first, at most 20. Does not change the `ETag`." },
  ),
  created_by_key_id: Nullable(
    t.String({ description: "The API key that created it; null: the dashboard or the CLI." }),
  ),
  created_at: instant("When it was created."),
  updated_at: instant("When it was last changed."),
});

export const CompanionObject = closedObject("Companion", makeCompanionFields);

/** The answer to a line of a batch that was refused. */
export const LineProblem = namedObject(
  "LineProblem",
  () => ({
    ...ProblemObject.properties,
    line: t.Integer({ minimum: 1, description: "The line of the body that was refused." }),
  }),
  { description: "What is wrong with one line." },
);

export const EmbedTokenObject = closedObject("EmbedToken", () => ({
  id,
  token: t.String({
    description: "Goes into the page; opens this one companion.",
    examples: ["emb_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa"],
  }),
  name: Nullable(t.String()),
  created_at: instant("When it was created."),
  last_used_at: Nullable(instant("When it last opened the companion; to the second.")),
}));
export type Companion = Static<typeof CompanionObject>;
export type EmbedToken = Static<typeof EmbedTokenObject>;

/** The companion object of every management response. */
export function toWireCompanion(companion: StoredCompanion): Companion {
  return {
    id: companion.id,
    slug: companion.slug,
    ...toWireSettings(companion),
    embed_token: companion.embedToken,
    avatar: toWireAvatar(companion),
    seen_on: (companion.seenOn ?? []).map(({ origin, firstSeenAt, lastSeenAt }) => {
      return { origin, first_seen_at: toRfc3339(firstSeenAt), last_seen_at: toRfc3339(lastSeenAt) };
    }),
    created_by_key_id: companion.createdByKeyId,
    created_at: toRfc3339(companion.createdAt),
    updated_at: toRfc3339(companion.updatedAt),
  };
}

function toWireAvatar({ avatarHash, avatarBytes: bytes }: StoredCompanion): Companion["avatar"] {
  return avatarHash === null || bytes === null ? null : { url: avatarPath(avatarHash), bytes };
}

/** What its `ETag` is made of: a visit changes nothing that anyone could overwrite. */
export function toVersion(companion: StoredCompanion): Companion {
  return toWireCompanion({ ...companion, seenOn: null });
}

/** Responders see neither prompts nor embed tokens, which the store keeps from them as well. */
export function toShownCompanion(principal: Principal): (companion: StoredCompanion) => Partial<Companion> {
  if (principal.keyId !== null || principal.member?.role !== "responder") return toWireCompanion;
  return (companion) => {
    const { system_prompt, embed_token, ...shown } = toWireCompanion(companion);
    return shown;
  };
}

export function toWireEmbedToken(token: StoredToken): EmbedToken {
  return {
    id: token.id,
    token: token.token,
    name: token.name,
    created_at: toRfc3339(token.createdAt),
    last_used_at: toNullableRfc3339(token.lastUsedAt),
  };
}
