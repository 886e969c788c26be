/** Questions without an answer: real messages, of which it is noted that knowledge had nothing for them. */
import type { Companion } from "../../src/domain/companion.ts";
import { systemIds } from "../../src/lib/ids.ts";
import type { SeenPassage } from "../../src/store/store.ts";
import type { ApiClient } from "./api-client.ts";
import type { TestServer } from "./app.ts";
import { chat } from "./chat.ts";

export interface AskedMessage {
  id: string;
  sources?: object[];
}

/** A message of a new conversation, listed as unanswered; the model saw the passages. */
export async function askInVain(
  server: TestServer,
  api: ApiClient,
  { id: companionId, embedToken }: Companion & { embedToken: string },
  message: string,
  passages: readonly SeenPassage[] = [],
): Promise<{ questionId: string; conversationId: string }> {
  const sessionId = systemIds.randomUuid();
  await chat(server.url, embedToken, { message, session_id: sessionId });
  const listed = await api.call("GET", `/api/companions/${companionId}/conversations?limit=1`);
  const conversationId = listed.json.data[0]?.id ?? "";
  const { json } = await api.call("GET", `/api/conversations/${conversationId}`);
  const [asked, reply] = json["messages"] as AskedMessage[];
  const questionId = systemIds.uuid();
  await server.services.store.unanswered.note({
    key: { companionId, sessionId, visitorId: null },
    unanswered: { messageId: asked?.id ?? "", groupId: questionId },
    seen: { messageId: reply?.id ?? "", passages },
    atMs: Date.now(),
  });
  return { questionId, conversationId };
}
