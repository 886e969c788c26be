/** ElevenLabs' post-call webhook: checks the signature and reads the transcript. */
import type { SpokenMessage, Transcript, TranscriptReader } from "../../contracts/voice/provider.ts";
import { AppError } from "../../domain/errors.ts";
import { isSameInConstantTime } from "../../lib/constant-time.ts";

const toleranceMs = 30 * 60 * 1000;

export function createElevenLabsReader(secret: string): TranscriptReader {
  return {
    name: "elevenlabs",
    begin(headers, nowMs) {
      const { timestamp, digests } = readSignature(headers, nowMs);
      const hasher = new Bun.CryptoHasher("sha256", secret).update(`${timestamp}.`);
      return {
        see: (piece) => void hasher.update(piece),
        finish(pieces) {
          const expected = hasher.digest();
          if (!digests.some((digest) => isSameInConstantTime(digest, expected)))
            throw refusal("it does not match the body");
          return readTranscript(pieces);
        },
      };
    },
  };
}

/** `t=<seconds>,v0=<hex>`, with several `v0` while a secret is being replaced. */
function readSignature(headers: Headers, nowMs: number): { timestamp: string; digests: Buffer[] } {
  const parts = (headers.get("elevenlabs-signature") ?? "").split(",").map((part) => part.trim());
  const timestamp = parts.find((part) => part.startsWith("t="))?.slice(2) ?? "";
  const digests = parts
    .filter((part) => /^v0=[0-9a-f]{64}$/i.test(part))
    .slice(0, 5)
    .map((part) => Buffer.from(part.slice(3), "hex"));
  if (!/^\d{1,12}$/.test(timestamp) || digests.length === 0) throw refusal("it is missing or malformed");
  if (Math.abs(nowMs - Number(timestamp) * 1000) > toleranceMs) throw refusal("it is older than 30 minutes");
  return { timestamp, digests };
}

function refusal(reason: string): AppError {
  return new AppError("unauthorized", `The ElevenLabs-Signature header was not accepted: ${reason}.`, {
    headers: { "www-authenticate": "ElevenLabs-Signature" },
  });
}

/** The part that we read; the rest of the event, above all ids from the client, is ignored. */
interface CallEvent {
  type?: unknown;
  data?: {
    conversation_id?: unknown;
    transcript?: unknown;
    metadata?: { start_time_unix_secs?: unknown; call_duration_secs?: unknown } | null;
  } | null;
}

interface CallTurn {
  role?: unknown;
  message?: unknown;
  interrupted?: unknown;
  time_in_call_secs?: unknown;
}

function readTranscript(pieces: readonly Uint8Array[]): Transcript | null {
  const event = parseEvent(pieces);
  if (event.type !== "post_call_transcription") return null;
  const conversationId = event.data?.conversation_id;
  const turns = event.data?.transcript;
  if (typeof conversationId !== "string" || conversationId === "" || !Array.isArray(turns)) {
    throw new AppError("invalid_request", "The event has no data.conversation_id or no data.transcript.");
  }
  const startSeconds = event.data?.metadata?.start_time_unix_secs;
  const messages = turns.map((turn) => readTurn(turn, startSeconds)).filter((message) => message !== null);
  const seconds = event.data?.metadata?.call_duration_secs;
  return { conversationId, messages, seconds: isSeconds(seconds) ? seconds : null };
}

function parseEvent(pieces: readonly Uint8Array[]): CallEvent {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const text = pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
    const event: unknown = JSON.parse(text);
    if (typeof event === "object" && event !== null) return event;
  } catch {
    // Handled below, like any other body that is not an event.
  }
  throw new AppError("invalid_request", "The body is not a JSON object.");
}

/** Null for turns in which no one spoke, such as tool calls. */
function readTurn(value: unknown, startSeconds: unknown): SpokenMessage | null {
  const turn = (typeof value === "object" && value !== null ? value : {}) as CallTurn;
  if (turn.role !== "user" && turn.role !== "agent") return null;
  if (typeof turn.message !== "string") return null;
  const text = turn.message.replaceAll("\0", "").toWellFormed().trim();
  if (text === "") return null;
  return {
    role: turn.role === "user" ? "user" : "assistant",
    text,
    complete: turn.interrupted !== true,
    spokenAtMs:
      isSeconds(startSeconds) && isSeconds(turn.time_in_call_secs)
        ? Math.round((startSeconds + turn.time_in_call_secs) * 1000)
        : null,
  };
}

function isSeconds(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
