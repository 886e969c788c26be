/** All turns that are stored of a companion, as its owner reads them. */
import type { ApiClient } from "./api-client.ts";

export interface LedgerCompanion {
  id: string;
  token: string;
}

export interface StoredTurn {
  sessionId: string;
  text: string;
  reply: string | null;
  isComplete: boolean;
}

/** Of each conversation oldest first. */
export async function readStored(api: ApiClient, { id }: LedgerCompanion): Promise<StoredTurn[]> {
  const turns: StoredTurn[] = [];
  let place = "";
  do {
    const page = (await api.call("GET", `/api/companions/${id}/conversations?limit=100${place}`)).json;
    for (const one of page.data) turns.push(...(await readConversation(api, one.id, String(one["session_id"]))));
    place = page.next_cursor === null ? "" : `&cursor=${encodeURIComponent(page.next_cursor)}`;
  } while (place !== "");
  return turns;
}

async function readConversation(api: ApiClient, id: string, sessionId: string): Promise<StoredTurn[]> {
  const messages: { role: string; text: string; complete: boolean }[] = [];
  let place = "";
  do {
    // The newest page comes first.
    const { json } = await api.call("GET", `/api/conversations/${id}${place}`);
    messages.unshift(...(json["messages"] as typeof messages));
    const next = json["messages_next_cursor"];
    place = typeof next === "string" ? `?messages_cursor=${encodeURIComponent(next)}` : "";
  } while (place !== "");
  return messages.flatMap(({ role, text }, index) => {
    if (role !== "user") return [];
    const next = messages[index + 1];
    const reply = next?.role === "assistant" ? next : undefined;
    return { sessionId, text, reply: reply?.text ?? null, isComplete: reply?.complete === true };
  });
}
