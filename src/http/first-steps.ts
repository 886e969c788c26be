/** What a new server shows to its first visitor: whether anyone can sign in, and where its demo is. */
import type { Services } from "../core/dependencies.ts";
import { demoEmail } from "../domain/account.ts";

type Parts = Pick<Services, "settings" | "store">;

const settledStores = new WeakSet<Services["store"]>();

/** Whether anyone can sign in. Once true it stays so: a change back is not worth a store query for every request. */
export async function isSetUp({ store }: Pick<Services, "store">): Promise<boolean> {
  if (settledStores.has(store)) return true;
  const hasAccount = await store.accounts.hasAnyPassword();
  if (hasAccount) settledStores.add(store);
  return hasAccount;
}

/** An embed token of the demo companion; null without the demo. */
export async function findDemoToken({ settings, store }: Parts): Promise<string | null> {
  const account = settings.isDemo ? await store.accounts.findByEmail(demoEmail) : null;
  if (account === null) return null;
  const query = { metadata: [{ path: "demo", value: "true" }], q: null };
  const { items } = await store.companions.list(account.id, query, { limit: 1, afterId: null });
  return items[0]?.embedToken ?? null;
}
