/** Keeps mail in the outbox. Apart from sending it: commands keep mail that a server sends. */
import type { MailAdded, Store } from "../../contracts/store/store.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Sealing } from "../../lib/sealing.ts";
import type { MailRequest } from "./mail.ts";

export const sealedMailName = (accountId: string, id: string) => `mail:${accountId}:${id}`;

export async function keepMail(
  { store, sealing, ids }: { store: Pick<Store, "mails">; sealing: Sealing; ids: Pick<IdSource, "uuid"> },
  { content, accountId, kind, ...request }: MailRequest,
  nowMs: number,
): Promise<MailAdded> {
  const id = ids.uuid();
  const { companionId = null, conversationId = null, memberId = null, dueAtMs = nowMs, expiresAtMs = null } = request;
  const sealed = content === null ? null : await sealing.seal(sealedMailName(accountId, id), JSON.stringify(content));
  const about = { accountId, companionId, conversationId, memberId };
  return await store.mails.add({ id, kind, ...about, sealed, createdAtMs: nowMs, dueAtMs, expiresAtMs });
}
