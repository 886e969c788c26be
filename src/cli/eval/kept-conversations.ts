/** Reads kept conversations for evals: of the data directory, or of a server over HTTP. */
import { createSealedSecrets } from "../../app/sealed-secrets.ts";
import type { ConversationPage } from "../../contracts/store/store.ts";
import type { KeptCall, KeptConversation, KeptMessage } from "../../core/evals/kept-case.ts";
import { createVisitors } from "../../core/visitors/verifier.ts";
import { textOf } from "../../domain/conversation.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { isVerifiedId, type VisitorClaims } from "../../domain/visitor.ts";
import type { Message } from "../../http/schemas/message.ts";
import { silentLog } from "../../lib/log.ts";
import type { ApiServer } from "../api-server.ts";
import { type ActionInput, CommandFailure } from "../command.ts";
import { openAccount } from "../find-account.ts";

export interface FoundConversation {
  readonly kept: KeptConversation;
  /** The companion's; null if it has none. */
  readonly slug: string | null;
}

export type FindConversation = (id: string) => Promise<FoundConversation>;

const messagesPerPage = 200;

export async function openKeptConversations(input: ActionInput, email: string): Promise<FindConversation> {
  const { store, account } = await openAccount(input, email);
  const { secretKey, dataDir } = input.loadConfig();
  const sealing = createSealedSecrets({ secretKey, dataDir, store });
  const visitors = createVisitors({ store, sealing, clock: input.clock, log: silentLog });
  const withVisitor = input.args.has("with-visitor");

  async function findVisitor({ visitorId, sealedVisitor }: ConversationPage["conversation"]) {
    if (!isVerifiedId(visitorId)) return null;
    const unknown: VisitorClaims = { sub: "visitor", name: null, email: null, attributes: {} };
    if (!withVisitor || sealedVisitor === null) return unknown;
    return (await visitors.open(visitorId, sealedVisitor)) ?? unknown;
  }

  async function readMessages({ messages }: ConversationPage): Promise<KeptMessage[]> {
    const replies = messages.filter(({ role }) => role === "assistant").map(({ id }) => id);
    const calls = await store.toolCalls.listOfReplies(replies);
    return messages.map((message) => ({
      role: message.role,
      text: textOf(message),
      isPersons: message.person != null,
      calls: calls.get(message.id) ?? [],
    }));
  }

  return async (id) => {
    let page = await store.conversations.find(account.id, id, { limit: messagesPerPage, before: null });
    if (page === null) throw new CommandFailure(`conversation not found: ${id}.`);
    const { conversation } = page;
    let messages = await readMessages(page);
    while (page !== null && page.nextBefore !== null) {
      page = await store.conversations.find(account.id, id, { limit: messagesPerPage, before: page.nextBefore });
      if (page !== null) messages = [...(await readMessages(page)), ...messages];
    }
    const companion = await store.companions.find(account.id, conversation.companionId);
    return { kept: { id, visitor: await findVisitor(conversation), messages }, slug: companion?.slug ?? null };
  };
}

export function openRemoteConversations(server: ApiServer): FindConversation {
  async function read(path: string, query: Record<string, string> = {}): Promise<JsonObject> {
    const { text } = await server.call("GET", path, { query });
    const value: JsonValue = JSON.parse(text);
    if (!isJsonObject(value)) throw new CommandFailure("The server does not answer as companiond does.");
    return value;
  }

  return async (id) => {
    const path = `/api/conversations/${encodeURIComponent(id)}`;
    const size = { messages_limit: String(messagesPerPage) };
    let page = await read(path, size);
    const { visitor, companion_id: companionId } = page;
    const pages = [page];
    for (;;) {
      const { messages_next_cursor: cursor } = page;
      if (typeof cursor !== "string") break;
      page = await read(path, { ...size, messages_cursor: cursor });
      pages.unshift(page);
    }
    const messages = pages.flatMap((one) => (one["messages"] as unknown as WireMessage[]).map(toKeptMessage));
    const { slug } = await read(`/api/companions/${companionId}`);
    const kept = { id, visitor: visitor as unknown as VisitorClaims | null, messages };
    return { kept, slug: typeof slug === "string" ? slug : null };
  };
}

type WireMessage = Pick<Message, "role" | "text" | "author" | "tool_calls">;

function toKeptMessage({ role, text, author, tool_calls: calls = [] }: WireMessage): KeptMessage {
  return { role, text, isPersons: author !== undefined, calls: calls as readonly KeptCall[] };
}
