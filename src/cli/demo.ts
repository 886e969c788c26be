/** The demo account and companion of `serve --demo`, created once, however often the server starts. */
import type { Store, WriteContext } from "../contracts/store/store.ts";
import { type Account, demoEmail } from "../domain/account.ts";
import { newCompanionSettings } from "../domain/companion.ts";
import { makeEmbedToken } from "../domain/credentials.ts";
import { AppError } from "../domain/errors.ts";
import type { IdSource } from "../lib/ids.ts";

const demoSettings = {
  ...newCompanionSettings("Ada"),
  systemPrompt:
    "You are Ada, the demo companion of companiond, an executable that hosts conversational companions for websites. " +
    "Answer briefly and kindly, in the language of the visitor.",
  greeting: "Hi, I'm Ada, the demo companion. Ask me anything!",
  metadata: { demo: true },
  starters: ["What can you do?", "How do I put you on my website?", "Tell me a short story."],
};

/** Resolves with an embed token of the demo companion. */
export async function ensureDemo(store: Store, ids: IdSource, audit: () => WriteContext): Promise<string> {
  const account = await ensureAccount(store, ids, audit);
  const query = { metadata: [{ path: "demo", value: "true" }], q: null };
  const { items } = await store.companions.list(account.id, query, { limit: 1, afterId: null });
  const [found] = items;
  const fresh = { id: ids.uuid(), token: makeEmbedToken(ids.secret) };
  if (found === undefined) {
    const ada = { ...demoSettings, id: ids.uuid(), createdByKeyId: null, embedToken: fresh };
    await store.companions.create(account.id, ada, audit());
    return fresh.token;
  }
  if (!found.enabled) await store.companions.update(account.id, found.id, { enabled: true }, audit());
  if (found.embedToken !== null) return found.embedToken;
  await store.embedTokens.create(account.id, found.id, { ...fresh, name: null }, audit());
  return fresh.token;
}

async function ensureAccount(store: Store, ids: IdSource, audit: () => WriteContext): Promise<Account> {
  const found = await store.accounts.findByEmail(demoEmail);
  if (found !== null) return found;
  try {
    // Without a password nobody can sign in to it.
    const account = { id: ids.uuid(), email: demoEmail, plan: "free", role: "owner", passwordHash: null } as const;
    return await store.accounts.create(account, audit());
  } catch (error) {
    // Another process that starts on the same database was faster.
    const other = error instanceof AppError ? await store.accounts.findByEmail(demoEmail) : null;
    if (other === null) throw error;
    return other;
  }
}
