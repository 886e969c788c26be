/** What the management API sends: the types of the server's own schemas. */
import type { Companion } from "../../../api/companions/responses.ts";
import type { WireDiff } from "../../../api/companions/version-responses.ts";
import type { Conversation, ListedConversation, Message } from "../../../api/conversations/responses.ts";
import type { ApiKey, NewApiKey } from "../../../api/keys/responses.ts";
import type { PossiblySignedIn, SignedIn } from "../../../api/session/responses.ts";
import type { UsageRow } from "../../../api/usage/responses.ts";

export type { ResetLink, VoiceAgentGrant } from "../../../api/accounts/responses.ts";
export type { AuditEntry } from "../../../api/audit/responses.ts";
export type { Budget, BudgetPreview } from "../../../api/budgets/responses.ts";
export type { EmbedToken } from "../../../api/companions/responses.ts";
export type {
  WireDraft as CompanionDraft,
  WireRestored as RestoredCompanion,
  WireSetFacts as CompanionSet,
  WireVersion as CompanionVersion,
  WireWholeVersion as WholeCompanionVersion,
} from "../../../api/companions/version-responses.ts";
export type { ConversationEvent, ConversationWithMessages } from "../../../api/conversations/responses.ts";
export type { Insights } from "../../../api/insights/responses.ts";
export type {
  AccountQuestion,
  AccountSource,
  KnowledgeFound,
  Source,
  SourcePassage,
  SourcePassages,
  UnansweredQuestion,
} from "../../../api/knowledge/responses.ts";
export type { Lead } from "../../../api/leads/responses.ts";
export type { InvitedMember, Member, MemberLink } from "../../../api/members/responses.ts";
export type { Server, TestedModel } from "../../../api/server/responses.ts";
export type { LinkObject, RecoveryCodes, Session, TotpSecret } from "../../../api/session/responses.ts";
export type { SpendingStop } from "../../../api/spending-stops/responses.ts";
export type { Status } from "../../../api/status/responses.ts";
export type { Tool, ToolCallRecord, ToolTest, ToolWithSecret } from "../../../api/tools/responses.ts";
export type { FailedReplies, Quota } from "../../../api/usage/responses.ts";
export type { NewVisitorKey, VisitorKey } from "../../../api/visitor-keys/responses.ts";
export type { NewWebhookAnswer, Webhook, WebhookAttempt, WebhookDelivery } from "../../../api/webhooks/responses.ts";
export type { ApiKey, Companion, Conversation, ListedConversation, Message, PossiblySignedIn, SignedIn, UsageRow };

export type Account = SignedIn["account"];
export type Json = Companion["metadata"][string];

export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}

export type FieldChange = WireDiff["changes"][number];

/** In a transcript. */
export type ToolCall = NonNullable<Message["tool_calls"]>[number];

/** With the secret, which is shown once. */
export type MadeKey = Required<NewApiKey>;

/** Who a verified visitor is, as the website's token says. */
export type Visitor = NonNullable<Conversation["visitor"]>;
