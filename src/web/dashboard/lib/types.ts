/** What the management API sends: the types of the server's own schemas. */
import type { Companion } from "../../../modules/companions/responses.ts";
import type { Conversation, Message } from "../../../modules/conversations/responses.ts";
import type { ApiKey, NewApiKey } from "../../../modules/keys/responses.ts";
import type { SignedIn } from "../../../modules/session/responses.ts";
import type { UsageRow } from "../../../modules/usage/responses.ts";

export type { ResetLink, VoiceAgentGrant } from "../../../modules/accounts/responses.ts";
export type { AuditEntry } from "../../../modules/audit/responses.ts";
export type { Budget, BudgetPreview } from "../../../modules/budgets/responses.ts";
export type { EmbedToken } from "../../../modules/companions/responses.ts";
export type { ConversationWithMessages } from "../../../modules/conversations/responses.ts";
export type {
  KnowledgeFound,
  Source,
  SourcePassage,
  SourcePassages,
  UnansweredQuestion,
} from "../../../modules/knowledge/responses.ts";
export type { RecoveryCodes, Session, TotpSecret } from "../../../modules/session/responses.ts";
export type { SpendingStop } from "../../../modules/spending-stops/responses.ts";
export type { Status } from "../../../modules/status/responses.ts";
export type { FailedReplies, Quota } from "../../../modules/usage/responses.ts";
export type { NewVisitorKey, VisitorKey } from "../../../modules/visitor-keys/responses.ts";
export type { ApiKey, Companion, Conversation, Message, SignedIn, UsageRow };

export type Account = SignedIn["account"];
export type Json = Companion["metadata"][string];

export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}

/** With the secret, which is shown once. */
export type MadeKey = Required<NewApiKey>;

/** Who a verified visitor is, as the website's token says. */
export type Visitor = NonNullable<Conversation["visitor"]>;
