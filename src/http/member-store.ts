/**
 * The store as members with fewer rights see it: with their own companions alone, and for responders without prompts and
 * embed tokens. Routes get it instead of the store, and what is not listed here is refused: nothing is reached because
 * a route forgot to ask. No one else pays for it.
 */
import type { ConversationQuery, Page, PageRequest, Store } from "../contracts/store/store.ts";
import type { Principal } from "../domain/account.ts";
import type { Companion } from "../domain/companion.ts";
import { missing } from "../domain/errors.ts";
import { beyondReach, type Member, reaches } from "../domain/member.ts";

type Noun = Exclude<keyof Store, "check" | "close">;
// biome-ignore lint/suspicious/noExplicitAny: what differs in each method is passed on as it is.
type Method = (...args: any[]) => unknown;

/** A person's own, or of what was found through the others. */
const open: readonly Noun[] = [
  ...(["accounts", "idempotency", "members", "secondFactors", "serverSecrets", "sessions"] as const),
  ...(["challenges", "turns", "voice"] as const),
];

/** Methods that take the companion's id behind the account's. */
const ofCompanion: { readonly [Name in Noun]?: readonly (keyof Store[Name])[] } = {
  companions: ["checkOwned", "update", "delete"],
  conversations: ["eraseVisitors"],
  knowledge: ["create", "list", "find", "findText", "replace", "refresh", "delete", "listPassages"],
  toolCalls: ["listOfTool"],
  tools: ["list", "find", "update", "delete"],
  unanswered: ["list", "find", "dismiss", "answer"],
};

/** All methods take the companion's id behind the account's, and show what responders do not see. */
const ofOwners: readonly Noun[] = ["drafts", "embedTokens", "versions"];

/** Methods that take ids of what was found before. */
const ofFound: { readonly [Name in Noun]?: readonly (keyof Store[Name])[] } = {
  companions: ["getChangeMark"],
  conversations: ["readExcerpts"],
  feedback: ["listRatings"],
  handoffs: [
    ...(["addNote", "deleteNote", "listNotes", "listEvents", "listLive", "markRead", "countUnread"] as const),
    ...(["setPresence", "recordSeen", "findPresence", "listPresent", "areUsed"] as const),
  ],
  spending: ["findStop"],
  toolCalls: ["listOfReplies"],
  unanswered: ["listSeen"],
};

export function storeFor(store: Store, principal: Principal): Store {
  const member = principal.keyId === null ? principal.member : null;
  const isLimited = member !== null && (member.role === "responder" || member.companionIds !== null);
  return isLimited ? viewOf(store, member) : store;
}

function viewOf(store: Store, member: Member): Store {
  const special = specialMethods(store, member);
  const seen = new Map<string, object>();

  function methodOf(noun: Noun, name: string): Method {
    const whole = store[noun] as unknown as Record<string, Method>;
    const method = whole[name] as Method;
    const own = (special[noun] as Record<string, Method> | undefined)?.[name];
    if (own !== undefined) return own;
    const isListed = (list: typeof ofCompanion) =>
      (list[noun] as readonly string[] | undefined)?.includes(name) ?? false;
    if (open.includes(noun) || isListed(ofFound)) return method.bind(whole);
    if (isListed(ofCompanion) || (ofOwners.includes(noun) && member.role !== "responder")) {
      return async (accountId, companionId, ...rest) => {
        if (!reaches(member, companionId)) throw missing("companion");
        return await method.call(whole, accountId, companionId, ...rest);
      };
    }
    return () => Promise.reject(beyondReach());
  }

  return new Proxy(store, {
    get(target, noun: keyof Store) {
      if (noun === "check" || noun === "close") return target[noun];
      const known = seen.get(noun);
      if (known !== undefined) return known;
      const view = new Proxy(target[noun], { get: (_, name: string) => methodOf(noun, name) });
      seen.set(noun, view);
      return view;
    },
  });
}

function specialMethods(store: Store, member: Member): { [Name in Noun]?: Partial<Store[Name]> } {
  const isOwn = (companionId: string) => reaches(member, companionId);
  const show = (companion: Companion) =>
    member.role === "responder" ? { ...companion, systemPrompt: "", embedToken: null } : companion;
  const requireOwn = (companionId: string | null) => {
    if (member.companionIds !== null && (companionId === null || !isOwn(companionId))) throw beyondReach();
  };
  const findConversation: Store["conversations"]["find"] = async (accountId, id, page) => {
    const found = await store.conversations.find(accountId, id, page);
    return found !== null && isOwn(found.conversation.companionId) ? found : null;
  };

  return {
    companionSets: {
      async read(accountId, scope) {
        const isOne = scope.slugs.length === 0 && !scope.isWholeSet && scope.adoptIds.every(isOwn);
        // Sets are the account's.
        if (!isOne || member.role === "responder") throw beyondReach();
        return await store.companionSets.read(accountId, scope);
      },
    },
    companions: {
      async find(accountId, id) {
        const found = isOwn(id) ? await store.companions.find(accountId, id) : null;
        return found && show(found);
      },
      async findBySlug(accountId, slug) {
        const found = await store.companions.findBySlug(accountId, slug);
        return found !== null && isOwn(found.id) ? show(found) : null;
      },
      async list(accountId, query, page) {
        const read = (part: PageRequest) => store.companions.list(accountId, query, part);
        const isByUpdate = query.updatedSinceMs != null;
        const { items, ...rest } = await filterPage(read, { page, isByUpdate }, ({ id }) => isOwn(id));
        return { ...rest, items: items.map(show) };
      },
    },
    conversations: {
      async list(accountId, query, page) {
        if (query.companionId !== null && !isOwn(query.companionId)) return { items: [], nextAfterId: null };
        const isByUpdate = query.updatedSinceMs != null;
        const read = (part: PageRequest) => store.conversations.list(accountId, narrow(query, member), part);
        return await filterPage(read, { page, isByUpdate }, ({ companionId }) => isOwn(companionId));
      },
      find: findConversation,
      async delete(accountId, id, context) {
        const found = await findConversation(accountId, id, { limit: 1, before: null });
        return found !== null && (await store.conversations.delete(accountId, id, context));
      },
    },
    handoffs: {
      async findOf(accountId, conversationId) {
        const found = await store.handoffs.findOf(accountId, conversationId);
        return found !== null && isOwn(found.key.companionId) ? found : null;
      },
      listSince: (accountId, change, limit) => store.handoffs.listSince(accountId, change, limit, member.companionIds),
    },
    feedback: {
      async listContacts(accountId, query, page) {
        if (query.companionId !== null && !isOwn(query.companionId)) return { items: [], nextAfterId: null };
        const read = (part: PageRequest) => store.feedback.listContacts(accountId, query, part);
        return await filterPage(read, { page, isByUpdate: true }, ({ companionId }) => isOwn(companionId));
      },
      async deleteContact(accountId, conversationId, context) {
        const found = await store.feedback.findContact(accountId, conversationId);
        return (
          found !== null &&
          isOwn(found.companionId) &&
          (await store.feedback.deleteContact(accountId, conversationId, context))
        );
      },
    },
    insights: {
      count(accountId, { companionIds, ...query }, nowMs) {
        const own = [...(companionIds ?? member.companionIds ?? [])].filter(isOwn);
        const isAll = companionIds === null && member.companionIds === null;
        return store.insights.count(accountId, { ...query, companionIds: isAll ? null : new Set(own) }, nowMs);
      },
    },
    knowledge: {
      listOfAccount(accountId, status, page) {
        const read = (part: PageRequest) => store.knowledge.listOfAccount(accountId, status, part);
        return filterPage(read, { page, isByUpdate: false }, ({ companionId }) => isOwn(companionId));
      },
    },
    unanswered: {
      listOfAccount(accountId, page) {
        const read = async (part: PageRequest) => {
          const { items, ...rest } = await store.unanswered.listOfAccount(accountId, part);
          return { ...rest, items: items.map((question) => ({ ...question, updatedAt: question.lastAskedAt })) };
        };
        return filterPage(read, { page, isByUpdate: true }, ({ companionId }) => isOwn(companionId));
      },
    },
    tools: {
      async create(accountId, tool, context) {
        if (!isOwn(tool.companionId)) throw missing("companion");
        await store.tools.create(accountId, tool, context);
      },
    },
    spending: {
      // Budgets are the account's.
      listBudgets: async () => ({ items: [], nextAfterId: null }),
      findBudget: async () => null,
    },
    usage: {
      async query(accountId, query, maxRows) {
        requireOwn(query.companionId);
        return await store.usage.query(accountId, query, maxRows);
      },
      async queryPage(accountId, query, page) {
        requireOwn(query.companionId);
        return await store.usage.queryPage(accountId, query, page);
      },
      async queryFailures(accountId, query) {
        requireOwn(query.companionId);
        return await store.usage.queryFailures(accountId, query);
      },
      async listEvents(accountId, query) {
        const { events, next } = await store.usage.listEvents(accountId, query);
        return { events: events.filter(({ companionId }) => isOwn(companionId)), next };
      },
    },
  };
}

/** Of one companion the store has an index. */
function narrow(query: ConversationQuery, { companionIds }: Member): ConversationQuery {
  const [only, ...more] = companionIds ?? [];
  return only === undefined || more.length > 0 || query.companionId !== null ? query : { ...query, companionId: only };
}

/** Pages that are read for one: then it ends early, as a search does. */
const maxReads = 50;
const leastRead = 100;

/** A page of those items that pass. */
async function filterPage<Item extends { id: string; updatedAt: number }>(
  read: (page: PageRequest) => Promise<Page<Item>>,
  { page, isByUpdate }: { page: PageRequest; isByUpdate: boolean },
  passes: (item: Item) => boolean,
): Promise<Page<Item>> {
  const items: Item[] = [];
  for (let part = { ...page, limit: Math.max(page.limit, leastRead) }, reads = 1; ; reads++) {
    const found = await read(part);
    items.push(...found.items.filter(passes));
    const last = items[page.limit - 1];
    if (last !== undefined && (items.length > page.limit || found.nextAfterId !== null)) {
      const nextUpdatedAt = isByUpdate ? last.updatedAt : null;
      return { items: items.slice(0, page.limit), nextAfterId: last.id, nextUpdatedAt };
    }
    const { nextAfterId, nextUpdatedAt = null } = found;
    if (nextAfterId === null || reads === maxReads) return { items, nextAfterId, nextUpdatedAt };
    part = { ...part, afterId: nextAfterId, afterUpdatedAt: nextUpdatedAt };
  }
}
