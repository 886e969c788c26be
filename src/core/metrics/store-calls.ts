/** The kind of each store call, for metrics: listed here, because names mean something only to people. */
import type { Store } from "../../contracts/store/store.ts";

export type StoreCall = "read" | "write";

type Nouns = Omit<Store, "check" | "close">;

const listAs =
  <Kind extends StoreCall>(kind: Kind) =>
  <Name extends string>(...names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, kind])) as Record<Name, Kind>;
const [reads, writes] = [listAs("read"), listAs("write")];

/** A missing member does not compile, and a test finds an unknown one. */
export const storeCalls: { readonly [Noun in keyof Nouns]: Readonly<Record<keyof Nouns[Noun], StoreCall>> } = {
  accounts: {
    ...reads("findById", "findByEmail", "list", "findHeld", "hasAnyPassword"),
    ...writes("create", "update", "setPassword", "delete"),
  },
  apiKeys: { ...reads("findByHash", "checkCaller", "list"), ...writes("create", "replace", "revoke", "recordUses") },
  audit: { ...reads("list", "readNames"), ...writes("record") },
  challenges: { ...reads("isUsedUp"), ...writes("spend", "purge") },
  companions: {
    ...reads(
      "countByModel",
      "findByEmbedToken",
      "checkEmbedToken",
      "checkOwned",
      "getChangeMark",
      "find",
      "findBySlug",
      "findAvatar",
      "list",
    ),
    ...writes("create", "createMany", "createFitting", "update", "delete", "setAvatar", "recordSeen"),
  },
  companionSets: { ...reads("read"), ...writes("apply") },
  conversations: {
    ...reads("list", "find", "readExcerpts"),
    ...writes("merge", "delete", "eraseVisitors", "deleteExpired"),
  },
  drafts: { ...reads("find"), ...writes("put", "delete", "publish") },
  embedTokens: { ...reads("list"), ...writes("create", "revoke", "recordUses") },
  feedback: {
    ...reads("findContact", "listContacts", "listRatings", "listMailDue", "findNextMail"),
    ...writes("deleteContact", "rate"),
  },
  handoffs: {
    ...reads("find", "findLive", "findOf", "findNextDue", "countState"),
    ...reads("listDue", "listHeld", "listLive", "listChanged", "listSince", "listAbsent", "listStray"),
    ...reads("listEvents", "listNotes", "countUnread", "listPresent", "findPresence", "areUsed"),
    ...writes("revise", "addNote", "deleteNote", "markRead", "markSeen", "setPresence", "recordSeen"),
  },
  idempotency: { ...reads("find"), ...writes("purge") },
  insights: reads("count"),
  knowledge: {
    ...reads(
      "list",
      "listOfAccount",
      "find",
      "findText",
      "listPassages",
      "findNextDue",
      "readUpload",
      "listDocuments",
      "listEditions",
    ),
    ...reads("findPostings", "readPassages", "readEdition", "readVectors", "listUnembedded"),
    ...writes("create", "replace", "refresh", "delete", "claim", "renew", "release", "openEdition", "append"),
    ...writes("publish", "confirm", "fail", "purge", "replaceVectors"),
  },
  members: { ...reads("list", "find"), ...writes("create", "update", "remove") },
  mails: {
    // `takeDue` finds nothing to take most of the time.
    ...reads("onAdded", "findNextDue", "takeDue"),
    ...writes("add", "finish", "purge"),
  },
  secondFactors: {
    ...reads("find", "listHolders"),
    ...writes("begin", "confirm", "takeStep", "takeRecoveryCode", "remove"),
  },
  serverSecrets: { ...reads("find"), ...writes("keep", "replace") },
  sessions: {
    ...reads("findByHash", "findAccess", "list", "findLink"),
    ...writes("create", "revoke", "recordUses", "purge", "createLink", "spendSetUpLink", "spendResetLink"),
    ...writes("spendInvitation"),
  },
  spending: {
    ...reads("listBudgets", "findBudget", "sumSpent", "listMatching", "listCountedKeys", "listChoices"),
    ...reads("hasStopBudgets", "listStops", "findStop"),
    ...writes("createBudget", "updateBudget", "deleteBudget", "reserve", "release", "settleDue", "stop", "start"),
  },
  toolCalls: {
    begin: "write",
    finish: "write",
    listOfMessage: "read",
    listOfReplies: "read",
    listOfTool: "read",
    decide: "write",
    deleteOrphans: "write",
  },
  tools: {
    list: "read",
    find: "read",
    listAll: "read",
    create: "write",
    update: "write",
    delete: "write",
    listHolders: "read",
    reset: "write",
  },
  turns: {
    ...reads("listHistory", "findExchange", "countDay", "countMonthTokens", "countVisitorDay"),
    ...writes("settle", "settleUnkept", "recordCall"),
  },
  unanswered: { ...reads("listSeen", "list", "listOfAccount", "find"), ...writes("note", "dismiss", "answer") },
  usage: { ...reads("query", "queryPage", "listEvents", "queryFailures") },
  versions: { ...reads("list", "find"), ...writes("restore") },
  visitorKeys: { ...reads("list", "find", "findOnly", "listHolders"), ...writes("create", "revoke", "reset") },
  voice: {
    // `takeDueOutbox` polls again and again, and hardly ever finds anything to take.
    ...reads("findAgent", "canUseAgent", "takeDueOutbox", "countDay", "findSession"),
    ...writes("lockAgent", "unlockAgent", "saveAgent", "finishOutbox", "postponeOutbox", "startSession"),
    ...writes("addTranscript", "deleteSessions"),
  },
  voiceAgentGrants: { ...reads("list", "countCompanions"), ...writes("grant", "revoke") },
  webhooks: {
    ...reads("list", "find", "listHolders", "listDeliveries", "findDelivery", "findEvent", "onStored", "findNextDue"),
    ...reads("countWaiting", "readWords"),
    ...writes("create", "update", "replaceSecret", "delete", "reset", "noteRetry", "takeDue", "finish", "purge"),
  },
};
