/** The fields of a companion that its owner sets: their schemas, both for validation and for the API document. */
import { type TNull, type TOptional, type TSchema, type TUnion, Type as t } from "@sinclair/typebox";
import { challengeModes } from "../../domain/challenge.ts";
import { type CompanionSettings, companionDefaults } from "../../domain/companion.ts";
import { answerModes, citationModes } from "../../domain/knowledge.ts";
import { maxOriginLength, normalizeOrigin } from "../../domain/origin.ts";
import { reasoningEfforts } from "../../domain/reasoning.ts";
import { visitorAuths } from "../../domain/visitor.ts";
import { describeAppearance, toWireAppearance, type WireAppearance } from "../../http/schemas/appearance.ts";
import { nameText } from "../../http/schemas/name.ts";
import { AnyObject, Nullish, Text } from "../../http/schemas/schema.ts";
import { type SnakeCase, toCamelCase } from "../../lib/field-names.ts";
import { describePeopleFields, toWireHandoff, toWireLeads, type WireHandoff, type WireLeads } from "./people-fields.ts";

type CompanionFields = ReturnType<typeof makeFields>;
let made: CompanionFields | null = null;

type WireSetting = SnakeCase<Exclude<keyof CompanionSettings, "slug">>;
type SentFields<Settings extends Record<string, TSchema>> = {
  [Setting in keyof Settings]: TOptional<TUnion<[Settings[Setting], TNull]>>;
};

/** Settings as they appear in responses. */
export type WireSettings = {
  [Setting in keyof Omit<
    CompanionSettings,
    "slug" | "appearance" | "handoff" | "leads"
  > as SnakeCase<Setting>]: CompanionSettings[Setting];
} & { context_tokens: number; appearance: WireAppearance | null; handoff: WireHandoff | null; leads: WireLeads | null };

/** Written out, since lists are made of these: a loop over the names takes twice as long. */
export function toWireSettings(settings: CompanionSettings): WireSettings {
  return {
    name: settings.name,
    system_prompt: settings.systemPrompt,
    greeting: settings.greeting,
    avatar_url: settings.avatarUrl,
    theme_color: settings.themeColor,
    appearance: settings.appearance && toWireAppearance(settings.appearance),
    voice_id: settings.voiceId,
    voice_agent_id: settings.voiceAgentId,
    model: settings.model,
    temperature: settings.temperature,
    reasoning_effort: settings.reasoningEffort,
    max_output_tokens: settings.maxOutputTokens,
    context_tokens: settings.contextTokens ?? companionDefaults.contextTokens,
    metadata: settings.metadata,
    allowed_origins: settings.allowedOrigins,
    starters: settings.starters,
    retention_days: settings.retentionDays,
    visitor_auth: settings.visitorAuth,
    daily_per_visitor: settings.dailyPerVisitor,
    daily_messages: settings.dailyMessages,
    monthly_tokens: settings.monthlyTokens,
    challenge: settings.challenge,
    answer_mode: settings.answerMode,
    citations: settings.citations,
    no_answer_text: settings.noAnswerText,
    handoff: settings.handoff && toWireHandoff(settings.handoff),
    leads: settings.leads && toWireLeads(settings.leads),
    ratings: settings.ratings,
    ask_resolved: settings.askResolved,
    enabled: settings.enabled,
  };
}

/**
 * `names` are the settings' names on the wire and in the domain, in the order of responses and audit entries; `sent`
 * are the schemas for requests: every field may be left out, and null means "not set".
 */
export function companionFields(): CompanionFields {
  made ??= makeFields();
  return made;
}

function makeFields() {
  const name = nameText("Name, shown to visitors.", "Ada");

  const settings = {
    system_prompt: Text({
      maxLength: 32_000,
      description: "Instruction text for the language model; visitors never see it.",
      examples: ["You help customers of a bicycle shop."],
    }),
    greeting: Text({
      maxLength: 1000,
      description: "Opening message of the chat. Not set: one that uses the name.",
      examples: ["Hi! Looking for a bicycle?"],
    }),
    avatar_url: Text({
      maxLength: 2000,
      // A URL parser accepts white space, but a page that shows the image might not.
      accepts: (text) => !/\s/.test(text) && /^https?:$/.test(URL.parse(text)?.protocol ?? ""),
      problem: "Must be an http or https URL of at most 2000 characters, or null.",
      description: "Avatar image, http or https. Not set: an image that the server generates.",
      examples: ["https://shop.example/ada.png"],
    }),
    theme_color: Text({
      pattern: "^#[0-9a-fA-F]{6}$",
      problem: "Must be a colour of the form #rrggbb, or null.",
      description: `Theme colour, \`#rrggbb\`, stored in lower case. Not set: \`${companionDefaults.themeColor}\`.`,
      examples: ["#0f766e"],
    }),
    appearance: describeAppearance(),
    voice_id: Text({
      minLength: 1,
      maxLength: 200,
      description: "A voice of the voice provider: the server keeps a voice agent that speaks with it.",
      examples: ["21m00Tcm4TlvDq8ikWAM"],
    }),
    voice_agent_id: Text({
      minLength: 1,
      maxLength: 200,
      description:
        "An existing voice agent of the provider that the operator has granted to the account, used as it is. " +
        "Cannot be combined with `voice_id`.",
      examples: ["agent_01jxyz"],
    }),
    model: Text({
      minLength: 1,
      maxLength: 200,
      description: "One of the models that the operator offers. Not set: the operator's default.",
      examples: ["gpt-6-luna"],
    }),
    temperature: t.Number({
      minimum: 0,
      maximum: 2,
      description: "Sent to the model only if set. Models that think take none, and it has no effect on them.",
      examples: [0.7],
    }),
    reasoning_effort: Text({
      enum: reasoningEfforts,
      description:
        "How long the model thinks before it answers, if it is one that does. A model that does not know the effort is " +
        "asked with the nearest that it knows. Not set: the operator's choice.",
      examples: ["low"],
    }),
    max_output_tokens: t.Integer({
      minimum: 1,
      description:
        "Longest reply in tokens that a visitor may see, at most the operator's limit. Not set: that limit. A model that " +
        "thinks is given room for that besides.",
      examples: [600],
    }),
    context_tokens: t.Integer({
      minimum: 1,
      maximum: 10_000_000,
      description: `How much is sent to the model with each message: the instructions, the message, and as much of the conversation as still fits; at most the operator's limit. A token counts as 4 bytes of UTF-8. Not set: ${companionDefaults.contextTokens}.`,
      examples: [8000],
    }),
    metadata: AnyObject({
      description:
        "Your own JSON object: at most 16 KiB of UTF-8 JSON and 8 levels deep, itself included. " +
        "Any field of it can be used to filter lists and usage. Replaced as a whole.",
      examples: [{ customer_id: "c_42", plan: "pro" }],
    }),
    allowed_origins: t.Array(
      Text({
        maxLength: maxOriginLength,
        accepts: (text) => normalizeOrigin(text) !== null,
        problem: `Must be an origin like https://shop.example or https://*.shop.example, of at most ${maxOriginLength} characters.`,
        examples: ["https://shop.example", "https://*.shop.example"],
      }),
      { maxItems: 50, description: "Websites that may embed the companion, stored in normal form. Empty: any." },
    ),
    starters: t.Array(Text({ minLength: 1, maxLength: 200, examples: ["When are you open?"] }), {
      maxItems: 6,
      description: "Suggested first questions.",
    }),
    retention_days: t.Integer({
      minimum: 1,
      maximum: 36_500,
      description: "Conversations untouched for longer are deleted. Not set: they are kept.",
      examples: [90],
    }),
    visitor_auth: Text({
      enum: visitorAuths,
      description:
        "Whether visitors bring a token of their website that identifies them: `off` ignores it, `optional` also " +
        "talks to visitors without one, `required` does not.",
      examples: ["off"],
    }),
    daily_per_visitor: t.Integer({
      minimum: 1,
      maximum: 10_000,
      description:
        "Messages that one verified visitor may send in a UTC day, by the `sub` of the token. Not set: no limit of their own.",
      examples: [50],
    }),
    daily_messages: t.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        "Messages that it answers in a UTC day; at most what the account's plan allows, which is the default.",
      examples: [200],
    }),
    monthly_tokens: t.Integer({
      minimum: 1,
      maximum: 1_000_000_000_000,
      description:
        "It answers while it has used fewer tokens than this, input and output together, in the UTC month. Not set: no limit.",
      examples: [5_000_000],
    }),
    challenge: Text({
      enum: challengeModes,
      description:
        "Whether a visitor without a token of their website must show a solved proof of work before a chat or a voice " +
        "session begins: `off`, `auto` (while the embed token's rate window is more than half full) or `always`.",
      examples: ["off"],
    }),
    answer_mode: Text({
      enum: answerModes,
      description:
        "What it replies where nothing in its knowledge fits the message: `free` (what the model knows) or `grounded` " +
        "(`no_answer_text`, without asking the model).",
      examples: ["free"],
    }),
    citations: Text({
      enum: citationModes,
      description:
        "How replies cite their sources: `footer` (numbers in the text, and a line for each source below it), `markers` " +
        "(numbers only) or `none`.",
      examples: ["footer"],
    }),
    no_answer_text: Text({
      minLength: 1,
      maxLength: 1000,
      description:
        "The reply of a `grounded` companion where nothing was found. Not set: a sentence in the visitor's language.",
      examples: ["I have not found anything about that. Write to help@shop.example."],
    }),
    ...describePeopleFields(),
    enabled: t.Boolean({ description: "False: its embed routes respond with 404; its tokens are kept." }),
  } satisfies Record<Exclude<WireSetting, "name">, TSchema>;

  const names = ["name", ...Object.keys(settings)].map((wire) => {
    return [wire as WireSetting, toCamelCase(wire) as keyof CompanionSettings] as const;
  });
  const sent = Object.fromEntries(Object.entries(settings).map(([wire, schema]) => [wire, Nullish(schema)]));
  return { name, settings, names, sent: sent as SentFields<typeof settings> };
}
