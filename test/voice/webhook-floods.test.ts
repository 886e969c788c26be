/** What senders who cannot sign can make the server hold: nothing that grows with their number. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { postCallEvent, signDelivery } from "../support/elevenlabs-delivery.ts";
import { eventually } from "../support/eventually.ts";
import { connectRaw, type RawVisitor } from "../support/raw-visitor.ts";
import { startVoiceServer, type VoiceServer, webhookSecret } from "../support/voice-server.ts";

const mebibyte = 1024 * 1024;
const bodyBytes = 8 * mebibyte;
const maxOfAddress = 16 * mebibyte;
const mostOfAll = 32 * mebibyte;

let server: VoiceServer;
beforeAll(async () => {
  server = await startVoiceServer({ environment: { COMPANIOND_TRUST_PROXY: "1" } });
});
afterAll(() => server.close());

async function heldBytes(): Promise<number> {
  const probe = server.services.measurements.probes.find(({ name }) => name === "companiond_webhook_body_bytes");
  return (await probe?.read()) ?? Number.NaN;
}

/** Announces 8 MiB with a well-formed but wrong signature, and sends part of it. */
async function startFlood(address: string, sentBytes: number, headers = ""): Promise<RawVisitor> {
  const visitor = await connectRaw(server.url);
  const signature = signDelivery("wsec_other", "something else");
  visitor.write(
    `POST /api/voice/elevenlabs/webhook HTTP/1.1\r\nHost: companion.test\r\nX-Forwarded-For: ${address}\r\n` +
      `ElevenLabs-Signature: ${signature}\r\nContent-Length: ${bodyBytes}\r\n${headers}\r\n`,
  );
  if (sentBytes > 0) visitor.write("x".repeat(sentBytes));
  return visitor;
}

function deliver(address: string): Promise<Response> {
  const event = postCallEvent("conv_of_nobody", []);
  return fetch(`${server.url}/api/voice/elevenlabs/webhook`, {
    method: "POST",
    headers: { "elevenlabs-signature": signDelivery(webhookSecret, event), "x-forwarded-for": address },
    body: event,
  });
}

async function vanish(visitors: readonly RawVisitor[]): Promise<void> {
  for (const visitor of visitors) visitor.vanish();
  await eventually(async () => (await heldBytes()) === 0);
}

test("200 bodies of one address that never end hold no more than its share, and others get through", async () => {
  const flood = await Promise.all(Array.from({ length: 200 }, () => startFlood("192.0.2.1", 3 * mebibyte)));
  const isRefused = ({ received }: RawVisitor) => received.startsWith("HTTP/1.1 429 ");
  // At most five bodies of three MiB fit.
  await eventually(() => flood.filter(isRefused).length >= 195);
  expect(await heldBytes()).toBeLessThanOrEqual(maxOfAddress);
  const [refused] = flood.filter(isRefused);
  expect(refused?.received.toLowerCase()).toContain("\r\nretry-after: 10\r\n");
  expect(refused?.received).toContain('"code":"rate_limited"');
  expect((await deliver("192.0.2.1")).status).toBe(200);
  expect((await deliver("198.51.100.7")).status).toBe(200);
  await vanish(flood);
  expect((await deliver("192.0.2.1")).status).toBe(200);
});

test("bodies of many addresses hold no more than all may", async () => {
  const flood = await Promise.all(
    Array.from({ length: 200 }, (_, at) => startFlood(`203.0.113.${at}`, at % 2 === 0 ? 7 * mebibyte : mebibyte)),
  );
  await eventually(() => flood.filter(({ received }) => received.startsWith("HTTP/1.1 429 ")).length >= 168);
  expect(await heldBytes()).toBeLessThanOrEqual(mostOfAll);
  await vanish(flood);
});

test("bodies of which nothing comes take up an address's places, and nobody else's", async () => {
  const waiting = await Promise.all(Array.from({ length: 16 }, () => startFlood("192.0.2.2", 1)));
  await eventually(async () => (await heldBytes()) === 16);
  expect((await deliver("192.0.2.2")).status).toBe(429);
  expect((await deliver("192.0.2.3")).status).toBe(200);
  await vanish(waiting);
  expect((await deliver("192.0.2.2")).status).toBe(200);
});

test("is refused by its time before any of its body is read", async () => {
  const visitor = await connectRaw(server.url);
  const signature = signDelivery(webhookSecret, "body", Math.floor(Date.now() / 1000) - 3600);
  visitor.write(
    `POST /api/voice/elevenlabs/webhook HTTP/1.1\r\nHost: companion.test\r\nElevenLabs-Signature: ${signature}\r\n` +
      `Content-Length: ${bodyBytes}\r\n\r\n`,
  );
  expect(await visitor.until((received) => received.includes("}"))).toStartWith("HTTP/1.1 401 ");
  visitor.vanish();
});
