/** The client for servers as a reader of replies. */
import { Companiond } from "../../src/client/index.ts";
import { testReplyClient } from "../contracts/reply-client.ts";

testReplyClient("the client for servers", ({ fetch }, { hasWaits = false } = {}) => {
  const sleep = hasWaits ? undefined : async () => {};
  const client = new Companiond({ baseUrl: "http://server.invalid", apiKey: "cmp_live_x", fetch, sleep });
  return {
    async *chat(message, { signal, onSources } = {}) {
      const events = onSources && true;
      const reply = client.companions.chat("c", { message, events }, { signal });
      yield* reply;
      if (reply.sources) onSources?.(reply.sources);
    },
  };
});
