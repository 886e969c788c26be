/** The field `appearance` of a companion: its schemas, its rules and its translation. */
import { type Static, Type as t } from "@sinclair/typebox";
import {
  type Appearance,
  appearanceDefaults,
  appearanceHeaders,
  appearanceIcons,
  appearancePositions,
  appearanceThemes,
  isLanguageTag,
  maxGreetings,
} from "../../domain/appearance.ts";
import type { FieldError } from "../../domain/errors.ts";
import { Nullish, OneOf, Text } from "./schema.ts";

const closed = { additionalProperties: false } as const;

function makeFields() {
  const teaser = t.Object(
    {
      text: Text({ minLength: 1, maxLength: 200, examples: ["Questions about sizes?"] }),
      after_seconds: t.Integer({ minimum: 0, maximum: 600, examples: [10] }),
    },
    { ...closed, description: "A line beside the closed launcher, shown after so many seconds." },
  );
  const greetings = t.Unsafe<Record<string, string>>(
    t.Object(
      {},
      {
        additionalProperties: Text({ minLength: 1, maxLength: 1000 }),
        maxProperties: maxGreetings,
        description: `Greetings by the page's language, before \`greeting\`: at most ${maxGreetings}, by BCP 47 tag, stored in lower case.`,
        examples: [{ de: "Hallo! Wie kann ich helfen?" }],
      },
    ),
  );
  return {
    theme: OneOf(appearanceThemes, { description: "Not set: as `auto`, which follows the visitor's system." }),
    position: OneOf(appearancePositions, { description: "The launcher's side. Not set: by the page's language." }),
    header: OneOf(appearanceHeaders, { description: "`tinted` is in the theme colour. Not set: `plain`." }),
    icon: OneOf(appearanceIcons, { description: "What the launcher shows. Not set: `chat`." }),
    radius: t.Integer({
      ...{ minimum: 0, maximum: 24, default: appearanceDefaults.radius },
      description: "Of the panel's corners, in pixels.",
    }),
    teaser,
    greetings,
  };
}

/** What owners send and read. */
export function describeAppearance() {
  const { theme, position, header, icon, radius, teaser, greetings } = makeFields();
  return t.Object(
    {
      ...{ theme: Nullish(theme), position: Nullish(position), header: Nullish(header), icon: Nullish(icon) },
      ...{ radius: Nullish(radius), teaser: Nullish(teaser), greetings: Nullish(greetings) },
    },
    {
      ...closed,
      description:
        "How the chat is drawn on a website, replaced as a whole; attributes and custom properties of the page win. Not set: " +
        "as the widget is by default.",
      examples: [{ theme: "light", header: "tinted", icon: "avatar", teaser: { text: "Hi!", after_seconds: 10 } }],
    },
  );
}

/** What websites read: only what is set. */
export const describeShownAppearance = () =>
  t.Partial(t.Object(makeFields()), {
    description: "How the owner wants the chat drawn; what is not set is left out.",
  });

type SentAppearance = Static<ReturnType<typeof describeAppearance>>;
export type WireAppearance = Required<SentAppearance>;

/** With every default filled in. */
export function toAppearance(sent: SentAppearance): Appearance {
  const { teaser } = sent;
  const greetings = Object.entries(sent.greetings ?? {}).map(([tag, text]) => [tag.toLowerCase(), text]);
  return {
    theme: sent.theme ?? null,
    position: sent.position ?? null,
    header: sent.header ?? appearanceDefaults.header,
    icon: sent.icon ?? appearanceDefaults.icon,
    radius: sent.radius ?? appearanceDefaults.radius,
    teaser: teaser == null ? null : { text: teaser.text, afterSeconds: teaser.after_seconds },
    greetings: greetings.length === 0 ? null : Object.fromEntries(greetings),
  };
}

export function toWireAppearance({ teaser, ...appearance }: Appearance): WireAppearance {
  return { ...appearance, teaser: teaser && { text: teaser.text, after_seconds: teaser.afterSeconds } };
}

/** The same without what is not set. */
export function toShownAppearance(appearance: Appearance): Static<ReturnType<typeof describeShownAppearance>> {
  return Object.fromEntries(Object.entries(toWireAppearance(appearance)).filter(([, value]) => value !== null));
}

/** What a schema cannot say of the greetings' names. */
export function listGreetingErrors(sent: SentAppearance | null | undefined): FieldError[] {
  const tags = Object.keys(sent?.greetings ?? {});
  const bad = tags.filter((tag) => !isLanguageTag(tag));
  const errors = bad.map((tag) => ({
    param: `appearance.greetings.${tag}`.slice(0, 200).toWellFormed(),
    detail: "Must be named by a language tag such as de or pt-BR.",
  }));
  const folded = new Set(tags.map((tag) => tag.toLowerCase()));
  if (folded.size === tags.length) return errors;
  return [...errors, { param: "appearance.greetings", detail: "Must have one greeting for a language." }];
}
