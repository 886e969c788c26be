/** A store with accounts and companions, for the contract suites of storage engines. */
import type { Arrivals } from "../../src/contracts/coordination.ts";
import type { NewApiKey, NewCompanion, SettledTurn, Store, WriteContext } from "../../src/contracts/store/store.ts";
import type { Account, Role } from "../../src/domain/account.ts";
import { type Companion, type CompanionSettings, newCompanionSettings } from "../../src/domain/companion.ts";
import { makeEmbedToken } from "../../src/domain/credentials.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256 } from "../../src/lib/sha256.ts";
import { answered } from "./answered.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import { type TurnWords, turnMessages } from "./turn-messages.ts";

/** Opens an empty store of the engine under test. */
export type OpenStore = () => Promise<{ store: Store; arrivals: Arrivals; close(): Promise<void> }>;

export const day = "2026-01-15";
export const firstPage = { limit: 20, afterId: null };

export interface StoreWorld {
  store: Store;
  clock: ManualClock;
  context(fields?: Partial<WriteContext>): WriteContext;
  createAccount(fields?: { email?: string; passwordHash?: string; role?: Role }): Promise<Account>;
  grantAgent(account: Account, agentId: string): Promise<void>;
  createCompanion(account: Account, settings?: Partial<CompanionSettings>): Promise<Companion & { embedToken: string }>;
  /** By default a turn of a new conversation without a visitor; a second passes. */
  turnOf(companion: Companion, fields?: Partial<SettledTurn> & Partial<TurnWords>): SettledTurn;
  close(): Promise<void>;
}

export function newCompanion(settings: Partial<CompanionSettings> = {}): NewCompanion {
  return {
    ...newCompanionSettings("Ada"),
    ...settings,
    id: systemIds.uuid(),
    createdByKeyId: null,
    embedToken: { id: systemIds.uuid(), token: makeEmbedToken(systemIds.secret) },
  };
}

/** By default a key of the dashboard that never expires. */
export function newApiKey(fields: Partial<NewApiKey> = {}): NewApiKey {
  const id = fields.id ?? systemIds.uuid();
  return {
    id,
    name: "Server",
    start: "cmp_live_abcd",
    lastFour: "wxyz",
    hash: sha256(id),
    scopes: ["keys:read"],
    expiresAt: null,
    createdByKeyId: null,
    ...fields,
  };
}

export async function openWorld(open: OpenStore): Promise<StoreWorld> {
  const { store, arrivals, close } = await open();
  const clock = createManualClock();

  function context(fields: Partial<WriteContext> = {}): WriteContext {
    const actor = { kind: "key", id: "key-1", ipPrefix: "192.0.2.0/24", requestId: "request-1" } as const;
    return { actor, nowMs: clock.nowMs(), auditId: systemIds.uuid(), ...fields };
  }

  return {
    store,
    clock,
    context,
    close,

    async grantAgent(account, agentId) {
      await store.voiceAgentGrants.grant(account.id, agentId, context());
    },

    createAccount({ email = `${systemIds.secret(8)}@shop.example`, passwordHash, role = "owner" } = {}) {
      const account = { id: systemIds.uuid(), email, plan: "free", role } as const;
      return store.accounts.create({ ...account, passwordHash: passwordHash ?? null }, context());
    },

    async createCompanion(account, settings) {
      const companion = newCompanion(settings);
      const created = await store.companions.create(account.id, companion, context());
      return { ...created, embedToken: companion.embedToken.token };
    },

    turnOf(companion, { said = "Hello", answered: reply = "Hi there", answeredAtMs, complete, atMs, ...fields } = {}) {
      clock.advance(1000);
      const sentAtMs = atMs ?? clock.nowMs();
      return {
        events: null,
        accountId: companion.accountId,
        key: { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: null },
        conversationId: systemIds.uuid(),
        messages: turnMessages({ said, answered: reply, atMs: sentAtMs, answeredAtMs, complete }),
        messageId: null,
        endCode: null,
        isCounted: true,
        visitor: null,
        arrivalMark: arrivals.mark(),
        ticketId: null,
        usage: {
          inputTokens: 7,
          outputTokens: 3,
          cachedTokens: 0,
          cacheWriteTokens: 0,
          reasoningTokens: 0,
          estimated: false,
        },
        ...answered,
        failure: null,
        keyId: null,
        day,
        ...fields,
      };
    },
  };
}
