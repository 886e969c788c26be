/** The socket of a mock voice-agent provider, as the provider's own browser client uses it. */

export interface MockVoiceSocket {
  /** `ws://…`, without a query. */
  url: string;
  /** What clients sent, by type, oldest first; audio is `user_audio_chunk`. */
  received: string[];
  /** Queries of the opened URLs. */
  queries: string[];
  /** Sends an event to all connections. */
  send(event: unknown): void;
  /** Speaks these words with this much (silent) audio. */
  speak(text: string, audioMs: number): void;
  /** Closes all connections with this code. */
  hangUp(code: number): void;
  /** Number of open connections. */
  readonly connections: number;
  close(): Promise<void>;
}

const sampleRate = 16_000;

export function startMockVoiceSocket(): MockVoiceSocket {
  const received: string[] = [];
  const queries: string[] = [];
  const clients = new Set<Bun.ServerWebSocket<undefined>>();
  let serial = 0;

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request, self) {
      queries.push(new URL(request.url).search);
      const isUpgraded = self.upgrade(request, { headers: { "Sec-WebSocket-Protocol": "convai" } });
      return isUpgraded ? undefined : new Response("no socket", { status: 400 });
    },
    websocket: {
      open: (socket) => void clients.add(socket),
      close: (socket) => void clients.delete(socket),
      message(socket, data) {
        const message: Record<string, unknown> = JSON.parse(String(data));
        const type = typeof message.type === "string" ? message.type : (Object.keys(message)[0] ?? "");
        received.push(type);
        if (type !== "conversation_initiation_client_data") return;
        const metadata = {
          conversation_id: "conv_mock",
          agent_output_audio_format: `pcm_${sampleRate}`,
          user_input_audio_format: `pcm_${sampleRate}`,
        };
        socket.send(
          JSON.stringify({
            type: "conversation_initiation_metadata",
            conversation_initiation_metadata_event: metadata,
          }),
        );
      },
    },
  });

  function send(event: unknown): void {
    for (const client of clients) client.send(JSON.stringify(event));
  }

  return {
    url: `ws://127.0.0.1:${server.port}/v1/convai/conversation`,
    received,
    queries,
    send,
    speak(text, audioMs) {
      const samples = Buffer.alloc((audioMs / 1000) * sampleRate * 2);
      serial++;
      send({ type: "agent_response", agent_response_event: { agent_response: text, event_id: serial } });
      send({ type: "audio", audio_event: { audio_base_64: samples.toString("base64"), event_id: serial } });
    },
    hangUp(code) {
      for (const client of clients) client.close(code, "mock");
    },
    get connections() {
      return clients.size;
    },
    async close() {
      await server.stop(true);
    },
  };
}
