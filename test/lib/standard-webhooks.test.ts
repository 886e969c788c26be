import { expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { makeWebhookSecret, readWebhookSecret, signWebhook } from "../../src/lib/standard-webhooks.ts";

const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));

test("signs as the vector of Standard Webhooks does, to the millisecond before the next second", () => {
  const content = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", sentAtMs: 1614265330_999, body: '{"test": 2432232314}' };
  expect(signWebhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", content)).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("the standard's own library verifies what is signed with a secret that was made here", () => {
  const secret = makeWebhookSecret(randomBytes);
  expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
  const body = JSON.stringify({ text: "Grüße 👋 日本" });
  const headers = signWebhook(secret, { id: "msg_1", sentAtMs: Date.now(), body });
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(secret).verify(body.replace("日本", "日木"), headers)).toThrow("No matching signature");
  expect(() => new Webhook(makeWebhookSecret(randomBytes)).verify(body, headers)).toThrow("No matching signature");
});

test("reads a secret with and without its prefix, and refuses what is none", () => {
  const key = randomBytes(24);
  expect(readWebhookSecret(`whsec_${key.toBase64()}`)).toEqual(key);
  expect(readWebhookSecret(key.toBase64())).toEqual(key);
  for (const secret of ["", "whsec_", "whsec_%%%", `whsec_${randomBytes(23).toBase64()}`]) {
    expect(() => readWebhookSecret(secret)).toThrow();
  }
});
