/** The client of companiond's management API for servers: no dependencies, wherever `fetch` and streams exist. */

import { followInbox, type InboxEvent, type InboxQuery } from "./events.ts";
import type { Me } from "./generated/wire.ts";
import { budgetCalls } from "./resources/budgets.ts";
import { companionCalls } from "./resources/companions.ts";
import { conversationCalls, presenceCalls } from "./resources/conversations.ts";
import { keyCalls, visitorKeyCalls } from "./resources/keys.ts";
import { knowledgeCalls, sourceCalls, unansweredCalls } from "./resources/knowledge.ts";
import { insightCalls, leadCalls } from "./resources/leads.ts";
import { toolCalls } from "./resources/tools.ts";
import { auditCalls, usageCalls } from "./resources/usage.ts";
import { draftCalls, versionCalls } from "./resources/versions.ts";
import { webhookCalls } from "./resources/webhooks.ts";
import { type CallOptions, createTransport, type Transport, type TransportOptions } from "./transport.ts";

export type { ReplyEndCode } from "../reply-reader/errors.ts";
export type { CitedSource, Confirmation, ToolCallState } from "../reply-reader/reply-reader.ts";
export type { Fetch } from "../reply-reader/request.ts";
export type { ChatReply, Reply } from "./chat.ts";
export { type ClientErrorCode, CompaniondError, type CompaniondErrorCode, type ServerErrorCode } from "./errors.ts";
export type { InboxEvent, InboxQuery, LiveEvent, LiveQuery } from "./events.ts";
export type * from "./generated/wire.ts";
export type { PartialCompanion, UpdateOptions } from "./resources/companions.ts";
export type { SourceFile } from "./resources/knowledge.ts";
export type { CallOptions, ChangeOptions, CreateOptions, NoteOptions } from "./transport.ts";

export type CompaniondOptions = TransportOptions;

/**
 * Calls of one server under one API key. Every call rejects with a `CompaniondError`, or with the reason of its signal.
 * What is refused by a limit or a server that is away is tried again, after the wait that the server asks for, and so is
 * what got no answer, where that cannot do a thing twice.
 */
export class Companiond {
  readonly companions: ReturnType<typeof companionCalls>;
  readonly conversations: ReturnType<typeof conversationCalls>;
  readonly leads: ReturnType<typeof leadCalls>;
  readonly insights: ReturnType<typeof insightCalls>;
  readonly presence: ReturnType<typeof presenceCalls>;
  readonly sources: ReturnType<typeof sourceCalls>;
  readonly knowledge: ReturnType<typeof knowledgeCalls>;
  readonly unanswered: ReturnType<typeof unansweredCalls>;
  readonly tools: ReturnType<typeof toolCalls>;
  readonly versions: ReturnType<typeof versionCalls>;
  readonly drafts: ReturnType<typeof draftCalls>;
  readonly keys: ReturnType<typeof keyCalls>;
  readonly visitorKeys: ReturnType<typeof visitorKeyCalls>;
  readonly usage: ReturnType<typeof usageCalls>;
  readonly budgets: ReturnType<typeof budgetCalls>;
  readonly webhooks: ReturnType<typeof webhookCalls>;
  readonly audit: ReturnType<typeof auditCalls>;
  readonly #transport: Transport;

  constructor(options: CompaniondOptions) {
    const transport = createTransport(options);
    this.#transport = transport;
    this.companions = companionCalls(transport);
    this.conversations = conversationCalls(transport);
    this.leads = leadCalls(transport);
    this.insights = insightCalls(transport);
    this.presence = presenceCalls(transport);
    this.sources = sourceCalls(transport);
    this.knowledge = knowledgeCalls(transport);
    this.unanswered = unansweredCalls(transport);
    this.tools = toolCalls(transport);
    this.versions = versionCalls(transport);
    this.drafts = draftCalls(transport);
    this.keys = keyCalls(transport);
    this.visitorKeys = visitorKeyCalls(transport);
    this.usage = usageCalls(transport);
    this.budgets = budgetCalls(transport);
    this.webhooks = webhookCalls(transport);
    this.audit = auditCalls(transport);
  }

  /**
   * The conversations outside plain talk, first as they stand, then with each change. Comes back after every cut, and
   * misses no change; it ends only by your leaving the loop, the signal, or a refusal.
   */
  inbox(query: InboxQuery = {}, options: CallOptions = {}): AsyncIterableIterator<InboxEvent> {
    return followInbox(this.#transport, query, options);
  }

  /** What the key is and may do, and its account's limits: the simplest call to check a key with. */
  me(options: CallOptions = {}): Promise<Me> {
    return this.#transport.json<Me>({ method: "GET", path: ["api", "me"] }, options);
  }
}
