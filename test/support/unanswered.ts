/** Questions without an answer: real messages, of which it is noted that knowledge had nothing for them. */
import type { Companion } from "../../src/domain/companion.ts";
import { systemIds } from "../../src/lib/ids.ts";
import type { ApiClient } from "./api-client.ts";
import type { TestServer } from "./app.ts";
import { chat } from "./chat.ts";

export interface AskedMessage {
  id: string;
  sources?: object[];
}

/** The id of the question: a message of a new conversation. */
export async function askInVain(
  server: TestServer,
  api: ApiClient,
  { id: companionId, embedToken }: Companion & { embedToken: string },
  message: string,
): Promise<string> {
  const sessionId = systemIds.randomUuid();
  await chat(server.url, embedToken, { message, session_id: sessionId });
  const listed = await api.call("GET", `/api/companions/${companionId}/conversations?limit=1`);
  const conversationId = listed.json.data[0]?.id ?? "";
  const { json } = await api.call("GET", `/api/conversations/${conversationId}`);
  const [asked] = json["messages"] as AskedMessage[];
  const questionId = systemIds.uuid();
  await server.services.store.unanswered.note({
    key: { companionId, sessionId, visitorId: null },
    unanswered: { messageId: asked?.id ?? "", groupId: questionId },
    seen: null,
  });
  return questionId;
}
