/** Chat Completions: `POST {base_url}/chat/completions`, which nearly every provider speaks. */
import { buildChatBody } from "./chat-body.ts";
import { chatReader } from "./chat-reader.ts";
import type { Wire } from "./wire.ts";

export const chatWire: Wire = {
  name: "chat",
  path: "/chat/completions",
  buildBody: buildChatBody,
  createReader: () => chatReader,
};
