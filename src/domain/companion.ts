/** Companions, which visitors talk to. */
import type { Appearance } from "./appearance.ts";
import type { ChallengeMode } from "./challenge.ts";
import type { HandoffSettings, LeadSettings } from "./handoff.ts";
import type { JsonObject } from "./json.ts";
import type { AnswerMode, CitationMode } from "./knowledge.ts";
import type { ReasoningEffort } from "./reasoning.ts";
import type { Sighting } from "./sighting.ts";
import type { VisitorAuth } from "./visitor.ts";

export type { JsonObject, JsonValue } from "./json.ts";

/** What the owner sets. Null means "not set": the server's default applies, and nothing is sent to a provider. */
export interface CompanionSettings {
  /** What files call it: unique in the account; null for none. */
  slug: string | null;
  name: string;
  systemPrompt: string | null;
  greeting: string | null;
  avatarUrl: string | null;
  /** `#rrggbb`, lower case. */
  themeColor: string | null;
  /** Null: as the widget is by default. */
  appearance: Appearance | null;
  voiceId: string | null;
  voiceAgentId: string | null;
  model: string | null;
  temperature: number | null;
  /** How long the model thinks before it answers; null leaves it to the operator. */
  reasoningEffort: ReasoningEffort | null;
  maxOutputTokens: number | null;
  /** Maximum size of a model request, including instructions and message, in estimated tokens. */
  contextTokens: number | null;
  metadata: JsonObject;
  /** Normalized origins; empty allows any. */
  allowedOrigins: string[];
  starters: string[];
  /** Conversations without activity for longer are deleted; null keeps them. */
  retentionDays: number | null;
  visitorAuth: VisitorAuth;
  /** Messages that one verified visitor may send in a UTC day; null: no limit of their own. */
  dailyPerVisitor: number | null;
  /** Messages that it answers in a UTC day, within what the plan allows; null: as many as the plan allows. */
  dailyMessages: number | null;
  /** It answers while it has used fewer tokens than this in the UTC month; null: no limit. */
  monthlyTokens: number | null;
  /** Whether visitors for whom no one vouches must show work before they chat. */
  challenge: ChallengeMode;
  /** Whether it answers without knowledge too, or replies with `noAnswerText` where nothing was found. */
  answerMode: AnswerMode;
  /** How replies cite their sources. */
  citations: CitationMode;
  /** At most 1000 characters; null: a sentence in the visitor's language. */
  noAnswerText: string | null;
  /** How people of the team may step into its conversations; null: they cannot. */
  handoff: HandoffSettings | null;
  /** What visitors may leave for the team; null: nothing. */
  leads: LeadSettings | null;
  /** Whether visitors may rate replies. */
  ratings: boolean;
  /** Whether visitors are asked if it is resolved. */
  askResolved: boolean;
  enabled: boolean;
}

export interface Companion extends CompanionSettings {
  id: string;
  accountId: string;
  /** Of its fields, tools and sources: 1 until they change, and one more with each change. */
  version: number;
  /** The oldest embed token that is still valid, or null if all are revoked. */
  embedToken: string | null;
  /** Of the avatar that was uploaded, with which its address is made; null without one. `avatarUrl` comes first. */
  avatarHash: string | null;
  avatarBytes: number | null;
  /** Newest first; null before the first. What `findByEmbedToken` returns may be older. */
  seenOn: readonly Sighting[] | null;
  /** Whether it has any source: without one, a turn does not ask for knowledge. */
  hasSources: boolean;
  /** How many tools it has: without any, a turn asks for none. */
  toolCount: number;
  /** Whether a person ever had one of its conversations: if not, no history has their messages. */
  hadPeople: boolean;
  /** The API key that created it, or null for the dashboard and the CLI. */
  createdByKeyId: string | null;
  createdAt: number;
  updatedAt: number;
}

export interface EmbedToken {
  id: string;
  companionId: string;
  token: string;
  name: string | null;
  createdAt: number;
  lastUsedAt: number | null;
}

export const companionDefaults = {
  themeColor: "#4f46e5",
  contextTokens: 8000,
} as const;

/** Default settings of a companion with this name. */
export function newCompanionSettings(name: string): CompanionSettings {
  return {
    slug: null,
    name,
    systemPrompt: null,
    greeting: null,
    avatarUrl: null,
    themeColor: null,
    appearance: null,
    voiceId: null,
    voiceAgentId: null,
    model: null,
    temperature: null,
    reasoningEffort: null,
    maxOutputTokens: null,
    contextTokens: null,
    metadata: {},
    allowedOrigins: [],
    starters: [],
    retentionDays: null,
    visitorAuth: "off",
    dailyPerVisitor: null,
    dailyMessages: null,
    monthlyTokens: null,
    challenge: "off",
    answerMode: "free",
    citations: "footer",
    noAnswerText: null,
    handoff: null,
    leads: null,
    ratings: false,
    askResolved: false,
    enabled: true,
  };
}

/** The first message to a visitor if the owner set none. */
export function defaultGreeting(name: string): string {
  return `Hi, I'm ${name}. How can I help you?`;
}
