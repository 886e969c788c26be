/** The signature of the post-call webhook, and what is read from its body. */
import { expect, test } from "bun:test";
import { createElevenLabsReader } from "../../src/engines/elevenlabs/webhook.ts";
import { postCallEvent, signDelivery } from "../support/elevenlabs-delivery.ts";

const secret = "wsec_test";
const reader = createElevenLabsReader(secret);
const nowMs = Date.UTC(2026, 0, 1);
const nowSeconds = nowMs / 1000;
const body = postCallEvent("conv_1", [{ role: "user", message: "Hello" }], {}, nowSeconds - 60);

function read(signature: string | null, text = body, atMs = nowMs) {
  const headers = new Headers(signature === null ? {} : { "ElevenLabs-Signature": signature });
  const delivery = reader.begin(headers, atMs);
  // In chunks that split characters.
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) => bytes.subarray(at * 7, at * 7 + 7));
  for (const piece of pieces) delivery.see(piece);
  return delivery.finish(pieces);
}

test("reads who said what, and when", () => {
  const event = postCallEvent(
    "conv_1",
    [
      { role: "agent", message: "Hi, I am" },
      { role: "user", message: " What are your hours, s’il vous plaît? 🕰️ " },
      { role: "agent", message: "We are op", interrupted: true },
    ],
    {},
    nowSeconds - 60,
  );
  expect(read(signDelivery(secret, event, nowSeconds), event)).toEqual({
    conversationId: "conv_1",
    seconds: 15,
    messages: [
      { role: "assistant", text: "Hi, I am", complete: true, spokenAtMs: nowMs - 60_000 },
      { role: "user", text: "What are your hours, s’il vous plaît? 🕰️", complete: true, spokenAtMs: nowMs - 55_000 },
      { role: "assistant", text: "We are op", complete: false, spokenAtMs: nowMs - 50_000 },
    ],
  });
});

test("leaves out turns in which nobody spoke, and repairs text that a database would refuse", () => {
  const turns = [
    { role: "agent", message: null, tool_calls: [{}] },
    { role: "user", message: "  " },
    { role: "system", message: "obey" },
    { role: "user", message: "a\0b\ud800c" },
    null,
    "user",
  ];
  const text = JSON.stringify({ type: "post_call_transcription", data: { conversation_id: "c", transcript: turns } });
  expect(read(signDelivery(secret, text, nowSeconds), text)?.messages).toEqual([
    { role: "user", text: "ab\ufffdc", complete: true, spokenAtMs: null },
  ]);
});

test("accepts a signature up to 30 minutes old, or ahead, and none beyond", () => {
  const signature = signDelivery(secret, body, nowSeconds);
  for (const offsetMs of [-30 * 60_000, 30 * 60_000]) expect(read(signature, body, nowMs + offsetMs)).not.toBeNull();
  for (const offsetMs of [-30 * 60_000 - 1, 30 * 60_000 + 1]) {
    expect(() => read(signature, body, nowMs + offsetMs)).toThrow("older");
  }
});

const genuine = signDelivery(secret, body, nowSeconds);
const digest = genuine.slice(genuine.indexOf("v0="));

const refused: [string, string | null][] = [
  ["no header", null],
  ["an empty header", ""],
  ["no time", digest],
  ["no digest", `t=${nowSeconds}`],
  ["a digest of another secret", signDelivery("wsec_other", body, nowSeconds)],
  ["a digest of another body", signDelivery(secret, `${body} `, nowSeconds)],
  ["another time than was signed", `t=${nowSeconds - 1},${digest}`],
  ["a short digest", `t=${nowSeconds},${digest.slice(0, -2)}`],
  ["another scheme", `t=${nowSeconds},v1=${digest.slice(3)}`],
  ["a time that is no number", `t=now,${digest}`],
];
for (const [name, signature] of refused) {
  test(`refuses ${name}`, () => {
    expect(() => read(signature)).toThrow(expect.objectContaining({ code: "unauthorized" }));
  });
}

test("accepts any of several digests, as while a secret is being replaced", () => {
  const other = signDelivery("wsec_other", body, nowSeconds).split(",")[1];
  expect(read(`t=${nowSeconds},${other},${digest}`)?.conversationId).toBe("conv_1");
});

test("refuses by the headers alone what can never be accepted", () => {
  const check = (signature: string) => reader.begin(new Headers({ "elevenlabs-signature": signature }), nowMs);
  expect(() => check(genuine)).not.toThrow();
  expect(() => check("t=1,v0=00")).toThrow();
  expect(() => check(signDelivery(secret, body, nowSeconds - 3600))).toThrow("older");
});

test("returns null for genuine deliveries of another kind", () => {
  for (const type of ["post_call_audio", "call_initiation_failure", "voice_removed"]) {
    const text = JSON.stringify({ type, data: { conversation_id: "conv_1", full_audio: "AAAA" } });
    expect(read(signDelivery(secret, text, nowSeconds), text)).toBeNull();
  }
});

test("calls a genuine body that cannot be understood invalid", () => {
  const transcription = (data: unknown) => JSON.stringify({ type: "post_call_transcription", data });
  const bodies = [
    "",
    "null",
    "[",
    transcription(null),
    transcription({ conversation_id: "c" }),
    transcription({ transcript: [] }),
  ];
  for (const text of bodies) {
    expect(() => read(signDelivery(secret, text, nowSeconds), text)).toThrow(
      expect.objectContaining({ code: "invalid_request" }),
    );
  }
});
