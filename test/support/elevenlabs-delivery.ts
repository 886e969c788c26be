/** The voice provider's deliveries after a call, signed as the provider does. */

export interface SpokenTurn {
  role: "user" | "agent";
  message: string | null;
  interrupted?: boolean;
}

/** The post-call event as the provider writes it; `extra` is added to its data, for ids that must not be trusted. */
export function postCallEvent(
  conversationId: string,
  turns: readonly SpokenTurn[],
  extra: Record<string, unknown> = {},
  startSeconds = Math.floor(Date.now() / 1000),
): string {
  return JSON.stringify({
    type: "post_call_transcription",
    event_timestamp: startSeconds + turns.length * 5,
    data: {
      agent_id: "agent_of_somebody",
      conversation_id: conversationId,
      status: "done",
      user_id: null,
      transcript: turns.map((turn, index) => ({
        tool_calls: null,
        tool_results: null,
        feedback: null,
        time_in_call_secs: index * 5,
        conversation_turn_metrics: null,
        ...turn,
      })),
      metadata: { start_time_unix_secs: startSeconds, call_duration_secs: turns.length * 5, cost: 12 },
      analysis: null,
      ...extra,
    },
  });
}

/** The `ElevenLabs-Signature` header for a body. */
export function signDelivery(secret: string, body: string, epochSeconds = Math.floor(Date.now() / 1000)): string {
  const digest = new Bun.CryptoHasher("sha256", secret).update(`${epochSeconds}.${body}`).digest("hex");
  return `t=${epochSeconds},v0=${digest}`;
}
