/** The provider's own client can open a session with the URL that a visitor gets. */
import { expect, test } from "bun:test";
import { TextConversation } from "@elevenlabs/client";
import { startVoiceServer } from "../support/voice-server.ts";

test("@elevenlabs/client connects with the signed URL as it was handed out", async () => {
  const server = await startVoiceServer();
  const opened = Promise.withResolvers<string>();
  // The provider's end of the session, as far as a client needs it to connect.
  const socketServer = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request, upgrade) {
      opened.resolve(request.url);
      const headers = { "sec-websocket-protocol": "convai" };
      return upgrade.upgrade(request, { headers }) ? undefined : new Response(null, { status: 400 });
    },
    websocket: {
      message(socket) {
        const conversation_initiation_metadata_event = {
          conversation_id: "conv_1mock",
          agent_output_audio_format: "pcm_16000",
          user_input_audio_format: "pcm_16000",
        };
        socket.send(
          JSON.stringify({ type: "conversation_initiation_metadata", conversation_initiation_metadata_event }),
        );
      },
    },
  });
  server.voice.setSocketUrl(`ws://127.0.0.1:${socketServer.port}/v1/convai/conversation`);

  const { embedToken } = await server.createCompanion({ voiceId: "voice-1" });
  const { signed_url: signedUrl } = (await (await server.askVoiceToken(embedToken)).json()) as { signed_url: string };
  const conversation = await TextConversation.startSession({ signedUrl, textOnly: true });
  expect(conversation.getId()).toBe("conv_1mock");
  // The request starts with the unchanged URL; the client only adds what it is.
  const arrived = (await opened.promise).replace(/^http/, "ws");
  expect(arrived.startsWith(`${signedUrl}&`)).toBe(true);
  await conversation.endSession();
  await socketServer.stop(true);
  await server.close();
});
