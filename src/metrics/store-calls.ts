/** The kind of each store call, for metrics: listed here, because names only tell people. */
import type { Store } from "../store/store.ts";

export type StoreCall = "read" | "write";

type Nouns = Omit<Store, "check" | "close">;

/** A missing or unknown member does not compile. */
export const storeCalls: { readonly [Noun in keyof Nouns]: Readonly<Record<keyof Nouns[Noun], StoreCall>> } = {
  accounts: {
    create: "write",
    findById: "read",
    findByEmail: "read",
    findPasswordHash: "read",
    list: "read",
    findHeld: "read",
    hasAnyPassword: "read",
    update: "write",
    setPassword: "write",
    delete: "write",
  },
  apiKeys: {
    create: "write",
    replace: "write",
    findByHash: "read",
    list: "read",
    revoke: "write",
    recordUses: "write",
  },
  audit: { record: "write", list: "read" },
  companions: {
    create: "write",
    createMany: "write",
    findByEmbedToken: "read",
    checkEmbedToken: "read",
    checkOwned: "read",
    getChangeMark: "read",
    find: "read",
    list: "read",
    update: "write",
    delete: "write",
  },
  conversations: { list: "read", find: "read", delete: "write", eraseVisitor: "write", deleteExpired: "write" },
  embedTokens: { create: "write", list: "read", revoke: "write", recordUses: "write" },
  idempotency: { find: "read", purge: "write" },
  secondFactors: {
    find: "read",
    listHolders: "read",
    begin: "write",
    confirm: "write",
    takeStep: "write",
    takeRecoveryCode: "write",
    remove: "write",
  },
  serverSecrets: { find: "read", keep: "write", replace: "write" },
  sessions: {
    create: "write",
    findByHash: "read",
    list: "read",
    revoke: "write",
    recordUses: "write",
    purge: "write",
    createLink: "write",
    findLink: "read",
    spendSetUpLink: "write",
    spendResetLink: "write",
  },
  turns: { listHistory: "read", settle: "write", settleUnkept: "write", recordFailure: "write", countDay: "read" },
  usage: { query: "read", queryFailures: "read" },
  voice: {
    findAgent: "read",
    canUseAgent: "read",
    lockAgent: "write",
    unlockAgent: "write",
    saveAgent: "write",
    // Polls again and again, and hardly ever finds anything to take.
    takeDueOutbox: "read",
    finishOutbox: "write",
    postponeOutbox: "write",
    startSession: "write",
    countDay: "read",
    findSession: "read",
    addTranscript: "write",
    deleteSessions: "write",
  },
  voiceAgentGrants: { list: "read", countCompanions: "read", grant: "write", revoke: "write" },
};
