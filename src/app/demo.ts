/** The demo account of `serve --demo` and its companion, with a text to read and two tools: created once, however often the server starts. */
import type { Store, WriteContext } from "../contracts/store/store.ts";
import { type Account, demoEmail } from "../domain/account.ts";
import { type Companion, newCompanionSettings } from "../domain/companion.ts";
import { makeEmbedToken } from "../domain/credentials.ts";
import { AppError } from "../domain/errors.ts";
import { toolTimeoutMs } from "../domain/tool.ts";
import { demoText, demoTools } from "../engines/demo/shop.ts";
import type { IdSource } from "../lib/ids.ts";
import { sha256Hex } from "../lib/sha256.ts";

const demoSettings = {
  ...newCompanionSettings("Ada"),
  systemPrompt:
    "You are Ada, the demo companion of companiond, an executable that hosts conversational companions for websites. " +
    "In this demo you speak for Spoke & Bell, a bicycle shop that is made up; say so to anyone who takes it for a real one. " +
    "Answer briefly and kindly, in the language of the visitor.",
  greeting: "Hi, I'm Ada, the demo companion. I speak for a bicycle shop that is made up. Ask me anything!",
  metadata: { demo: true },
  starters: [
    "What can you do?",
    "How long is the guarantee on a used bicycle?",
    "What are your opening hours?",
    "Book me a test ride on Saturday.",
  ],
};

/** Resolves with an embed token of the demo companion. */
export async function ensureDemo(store: Store, ids: IdSource, audit: () => WriteContext): Promise<string> {
  const account = await ensureAccount(store, ids, audit);
  const query = { metadata: [{ path: "demo", value: "true" }], q: null };
  const { items } = await store.companions.list(account.id, query, { limit: 1, afterId: null });
  let [ada] = items;
  if (ada === undefined) {
    const embedToken = { id: ids.uuid(), token: makeEmbedToken(ids.secret) };
    // Enabled once all of it is there: a start that is interrupted goes on at the next one.
    const settings = { ...demoSettings, id: ids.uuid(), createdByKeyId: null, embedToken, enabled: false };
    ada = await store.companions.create(account.id, settings, audit());
  }
  if (!ada.enabled) {
    await addText(store, ids, ada, audit);
    await addTools(store, ids, ada, audit);
    await store.companions.update(account.id, ada.id, { enabled: true }, audit());
  }
  if (ada.embedToken !== null) return ada.embedToken;
  const fresh = { id: ids.uuid(), token: makeEmbedToken(ids.secret), name: null };
  await store.embedTokens.create(account.id, ada.id, fresh, audit());
  return fresh.token;
}

/** It is read once the server runs. */
async function addText({ knowledge }: Store, ids: IdSource, ada: Companion, audit: () => WriteContext): Promise<void> {
  const found = await knowledge.list(ada.accountId, ada.id, { limit: 1, afterId: null });
  if (found === null || found.items.length > 0) return;
  const bytes = new TextEncoder().encode(demoText.markdown);
  const upload = { id: ids.uuid(), kind: "markdown" as const, bytes, hash: sha256Hex(bytes) };
  const text = { type: "text" as const, title: demoText.title, url: null, refreshHours: null, upload };
  await knowledge.create(ada.accountId, ada.id, { id: ids.uuid(), ...text }, audit());
}

async function addTools({ tools }: Store, ids: IdSource, ada: Companion, audit: () => WriteContext): Promise<void> {
  const names = new Set((await tools.listAll(ada.id)).map(({ name }) => name));
  for (const { name, title, confirm, ...target } of demoTools.filter((tool) => !names.has(tool.name))) {
    const context = audit();
    const unsealed = { sealedHeaders: null, headerNames: [], sealedSecret: "" };
    const limits = { timeoutMs: toolTimeoutMs.usual, confirm, requiresVisitor: false };
    const times = { createdAt: context.nowMs, updatedAt: context.nowMs };
    const address = { id: ids.uuid(), companionId: ada.id, name, title, target: { type: "http" as const, ...target } };
    await tools.create(ada.accountId, { ...address, ...unsealed, ...limits, ...times }, context);
  }
}

async function ensureAccount(store: Store, ids: IdSource, audit: () => WriteContext): Promise<Account> {
  const found = await store.accounts.findByEmail(demoEmail);
  if (found !== null) return found;
  try {
    // Without a password no one can sign in to it.
    const account = { id: ids.uuid(), email: demoEmail, plan: "free", role: "owner", passwordHash: null } as const;
    return await store.accounts.create(account, audit());
  } catch (error) {
    // Another process that starts on the same database was faster.
    const other = error instanceof AppError ? await store.accounts.findByEmail(demoEmail) : null;
    if (other === null) throw error;
    return other;
  }
}
