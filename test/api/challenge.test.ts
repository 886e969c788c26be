/** Companions that ask their visitors for a proof of work. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createChallenge, solveChallenge as solveAsAltcha, verifySolution } from "altcha-lib/v1";
import type { CompanionSettings } from "../../src/domain/companion.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { Stop } from "../../src/lib/stop-signal.ts";
import { readStream, sendChat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { encodeSolution, readChallenge, solve } from "../support/solve.ts";
import { createWebsiteKey, signToken } from "../support/visitor-keys.ts";
import { startVoiceServer, type VoiceServer } from "../support/voice-server.ts";

const messagesPerDay = 40;
/** It stands still: the windows of limits count what a slow machine sends in minutes, too. */
const clock = createManualClock(Date.now());
let server: VoiceServer;
beforeAll(async () => {
  server = await startVoiceServer({
    clock,
    environment: {
      COMPANIOND_RATE_PER_TOKEN: "30",
      COMPANIOND_DAILY_FREE: String(messagesPerDay),
      COMPANIOND_TRUST_PROXY: "1",
    },
  });
});
afterAll(() => server.close());

async function open(settings: Partial<CompanionSettings> = {}) {
  const companion = await server.createCompanion({ challenge: "always", ...settings });
  const post = (body: unknown, solution?: string, headers: Record<string, string> = {}) =>
    sendChat(server.url, companion.embedToken, body, {
      headers: {
        "content-type": "application/json",
        ...(solution === undefined ? {} : { "x-challenge": solution }),
        ...headers,
      },
    });
  const work = async () => solve(await readChallenge(await post({ message: "Hello" })));
  return { companion, post, work };
}

const named = () => ({ message: "Hello", session_id: crypto.randomUUID(), message_id: crypto.randomUUID() });

/** How many requests the embed token's window still takes, as a response told it. */
function leftOf(response: Response): number | null {
  const match = /"token";r=(\d+)/.exec(response.headers.get("ratelimit") ?? "");
  return match ? Number(match[1]) : null;
}

describe("a challenge", () => {
  test("comes with the 403 of a chat POST and a voice token, in ALTCHA's form, and takes no place of the token", async () => {
    const { companion, post } = await open({ voiceId: "voice_1" });
    for (const ask of [() => post({ message: "Hello" }), () => server.askVoiceToken(companion.embedToken)]) {
      const askedAtMs = server.services.clock.nowMs();
      const response = await ask();
      expect(leftOf(response)).toBeNull();
      const challenge = await readChallenge(response);
      expect(Object.keys(challenge).sort()).toEqual(["algorithm", "challenge", "maxnumber", "salt", "signature"]);
      expect(challenge).toMatchObject({
        algorithm: "SHA-256",
        challenge: expect.stringMatching(/^[0-9a-f]{64}$/),
        signature: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(challenge.maxnumber).toBeLessThanOrEqual(1_000_000);
      const [, expires] = /^[0-9a-f]{24}\?expires=(\d+)&$/.exec(challenge.salt) ?? [];
      // Whole seconds.
      expect(Number(expires) * 1000).toBeGreaterThan(askedAtMs + 299_000);
      expect(Number(expires) * 1000).toBeLessThanOrEqual(server.services.clock.nowMs() + 300_000);
    }
    expect(server.mockLlm.requests).toHaveLength(0);
  });

  test("is announced by the embed configuration, and by nothing where it is off", async () => {
    const config = async (challenge: "off" | "auto" | "always") => {
      const { embedToken } = (await open({ challenge })).companion;
      return await (await fetch(`${server.url}/api/embed/${embedToken}`)).json();
    };
    expect(await config("auto")).toMatchObject({ challenge: true });
    expect(await config("always")).toMatchObject({ challenge: true });
    expect(await config("off")).not.toHaveProperty("challenge");
  });

  test("is looked at after the origin, and before the content type and the body", async () => {
    const { post } = await open({ allowedOrigins: ["https://shop.example"] });
    const foreign = await post("{", undefined, { origin: "https://other.example", "content-type": "text/plain" });
    expect(await foreign.json()).toMatchObject({ status: 403, code: "origin_not_allowed" });
    const own = { origin: "https://shop.example", "content-type": "text/plain" };
    const solution = solve(await readChallenge(await post("{", undefined, own)));
    const answered = await post("{", solution, own);
    expect([answered.status, leftOf(answered)]).toEqual([415, 29]);
    expect((await post("{", solution, { origin: "https://shop.example" })).status).toBe(400);
    // Neither has spent it.
    expect((await post({ message: "Hello" }, solution, { origin: "https://shop.example" })).status).toBe(200);
  });

  test("is not asked of verified visitors, nor of those who only read", async () => {
    const account = await server.createAccount();
    const companion = await server.createCompanion({ challenge: "always", visitorAuth: "optional" }, account);
    const key = await createWebsiteKey(server.url, (await server.createKey(account)).key);
    const token = await signToken(key, companion.id, { sub: "ann" });
    const headers = { "content-type": "application/json", "x-visitor-token": token };
    expect((await sendChat(server.url, companion.embedToken, { message: "Hello" }, { headers })).status).toBe(200);
    await readChallenge(await sendChat(server.url, companion.embedToken, { message: "Hello" }));
    const reply = `${server.url}/api/embed/${companion.embedToken}/chat/${crypto.randomUUID()}?session_id=${crypto.randomUUID()}`;
    for (const method of ["GET", "DELETE"]) expect((await fetch(reply, { method })).status).toBe(404);
  });
});

describe("a solution", () => {
  test("begins one message, and is then refused with a new challenge that takes no place of the token", async () => {
    const { post, work } = await open();
    const solution = await work();
    const first = await post({ message: "Hello" }, solution);
    expect([first.status, leftOf(first)]).toEqual([200, 29]);
    await first.text();
    const again = await post({ message: "Hello again" }, solution);
    expect(leftOf(again)).toBeNull();
    const next = await post({ message: "Hello again" }, solve(await readChallenge(again)));
    expect([next.status, leftOf(next)]).toEqual([200, 28]);
  });

  test("is good again for the same message_id of the same conversation, and for no other", async () => {
    const { post, work } = await open();
    const solution = await work();
    const message = named();
    const before = server.mockLlm.requests.filter(({ userText }) => userText === "Hello").length;
    const replies = [await post(message, solution), await post(message, solution)];
    const texts = await Promise.all(replies.map(async (reply) => readStream(await reply.text()).texts.join("")));
    expect(texts).toEqual(["You said: Hello", "You said: Hello"]);
    expect(server.mockLlm.requests.filter(({ userText }) => userText === "Hello")).toHaveLength(1 + before);
    for (const other of [
      { ...message, message_id: crypto.randomUUID() },
      { ...message, session_id: crypto.randomUUID() },
      { message: "Hello" },
    ]) {
      await readChallenge(await post(other, solution));
    }
  });

  test("reruns the same message after a failure of the provider", async () => {
    const { post, work } = await open();
    const solution = await work();
    const message = { ...named(), message: "[[fail:400]]" };
    expect((await post(message, solution)).status).toBe(502);
    expect((await post(message, solution)).status).toBe(502);
    await readChallenge(await post({ ...message, message_id: crypto.randomUUID() }, solution));
  });

  test("is good for three repetitions of a message that is left; each further one counts, and needs its own", async () => {
    const { companion, post, work } = await open({ dailyMessages: 3 });
    const message = named();
    server.mockLlm.respond((_, response) => response.closed);
    const leave = async (solution: string) => {
      const lost = new AbortController();
      const headers = { "content-type": "application/json", "x-challenge": solution };
      const asked = sendChat(server.url, companion.embedToken, message, { headers, signal: lost.signal });
      await server.mockLlm.until(() => server.mockLlm.openRequests === 1);
      lost.abort();
      await expect(asked).rejects.toThrow();
      await eventually(() => server.services.openTurns.size === 0);
    };
    const count = () => server.services.store.turns.countDay(companion.id, toUtcDay(server.services.clock.nowMs()));
    const asked = server.mockLlm.requests.length;
    const solution = await work();
    for (let run = 0; run < 4; run++) await leave(solution);
    expect(await count()).toBe(1);
    await readChallenge(await post(message, solution));
    const own = await work();
    await leave(own);
    expect(await count()).toBe(2);
    await readChallenge(await post(message, own));
    await leave(await work());
    const refused = await post(message, await work());
    expect(await refused.json()).toMatchObject({ status: 429, code: "quota_exceeded" });
    expect(server.mockLlm.requests.length - asked).toBe(6);
    server.mockLlm.respond(null);
  });

  test("of two requests at once begins exactly one", async () => {
    const { post, work } = await open();
    for (const body of [() => ({ message: "Hello" }), named]) {
      const solution = await work();
      const before = server.mockLlm.requests.length;
      const statuses = (await Promise.all([post(body(), solution), post(body(), solution)])).map(
        ({ status }) => status,
      );
      expect(statuses.sort()).toEqual([200, 403]);
      expect(server.mockLlm.requests.length - before).toBe(1);
    }
  });

  test("is not spent by what a quota refuses", async () => {
    const { companion, post, work } = await open();
    const solution = await work();
    const entry = { companionId: companion.id, queueKey: null, messagesPerDay, visitor: null, messageId: null };
    const { turns } = server.services.coordination;
    const taken = await Promise.all(Array.from({ length: messagesPerDay }, () => turns.enter(entry, new Stop())));
    expect(await (await post({ message: "Hello" }, solution)).json()).toMatchObject({ code: "quota_exceeded" });
    for (const verdict of taken) if (verdict.isAdmitted) await verdict.leave();
    expect((await post({ message: "Hello" }, solution)).status).toBe(200);
  });

  test("is refused if malformed, wrong, another companion's, or over", async () => {
    const { post } = await open();
    const other = await open();
    const challenge = await readChallenge(await post({ message: "Hello" }));
    const good = JSON.parse(atob(solve(challenge)));
    const [head, expires] = challenge.salt.split("?expires=") as [string, string];
    const later = `${head}?expires=${Number.parseInt(expires, 10) + 600}&`;
    const bad: [string, string][] = [
      ["empty", ""],
      ["no base64", "%%%"],
      ["no JSON", btoa("hello")],
      ["null", btoa("null")],
      ["text number", encodeSolution({ ...good, number: String(good.number) })],
      ["next number", encodeSolution({ ...good, number: good.number + 1 })],
      ["negative", encodeSolution({ ...good, number: -1 })],
      ["fraction", encodeSolution({ ...good, number: 1.5 })],
      ["beyond", encodeSolution({ ...good, number: 10_000_000 })],
      ["algorithm", encodeSolution({ ...good, algorithm: "SHA-1" })],
      ["later", encodeSolution({ ...good, salt: later })],
      // Digits moved from the number to the salt: the hash would be the same.
      [
        "spliced",
        encodeSolution({
          ...good,
          salt: `${challenge.salt}${String(good.number)[0]}`,
          number: Number(String(good.number).slice(1) || 0),
        }),
      ],
      ["hash", encodeSolution({ ...good, challenge: "0".repeat(64) })],
      ["signature", encodeSolution({ ...good, signature: "0".repeat(64) })],
      ["long", encodeSolution({ ...good, more: "x".repeat(1024) })],
      ["foreign", solve(await readChallenge(await other.post({ message: "Hello" })))],
    ];
    for (const [what, solution] of bad) {
      const fresh = await readChallenge(await post({ message: "Hello" }, solution));
      expect([what, fresh.challenge === challenge.challenge]).toEqual([what, false]);
    }
    clock.advance(301_000);
    await readChallenge(await post({ message: "Hello" }, encodeSolution(good)));
    clock.advance(-301_000);
    expect((await post({ message: "Hello" }, encodeSolution({ ...good, took: 12 }))).status).toBe(200);
  });

  test("passes a few times where nothing begins", async () => {
    const { post, work } = await open();
    const solution = await work();
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) statuses.push((await post("{", solution)).status);
    expect(statuses).toEqual([...Array(10).fill(400), 403, 403]);
  });

  test("begins one voice session", async () => {
    const { companion } = await open({ voiceId: "voice_1" });
    const ask = (solution: string) =>
      server.askVoiceToken(companion.embedToken, undefined, { "x-challenge": solution });
    const solution = solve(await readChallenge(await server.askVoiceToken(companion.embedToken)));
    expect((await Promise.all([ask(solution), ask(solution)])).map(({ status }) => status).sort()).toEqual([200, 403]);
    await readChallenge(await ask(solution));
    expect(server.voice.sessions).toHaveLength(1);
  });

  test("is ALTCHA's, by ALTCHA's own library", async () => {
    const { companion, post } = await open();
    const { algorithm, challenge, maxnumber, salt, signature } = await readChallenge(await post({ message: "Hello" }));
    // Theirs solves ours; it is slow, so it begins near by.
    const { number } = JSON.parse(atob(solve({ algorithm, challenge, maxnumber, salt, signature })));
    const found = await solveAsAltcha(challenge, salt, algorithm, maxnumber, Math.max(0, number - 50)).promise;
    expect(found?.number).toBe(number);
    const payload = encodeSolution({ algorithm, challenge, number, salt, signature, took: 1 });
    // Theirs verifies ours, with our key.
    const key = await server.services.sealing.digest("challenge", companion.id);
    expect(await verifySolution(payload, key)).toBe(true);
    expect(await verifySolution(payload, `${key}x`)).toBe(false);
    expect((await post({ message: "Hello" }, payload)).status).toBe(200);
    // Ours solves and verifies theirs.
    const theirs = await createChallenge({
      hmacKey: key,
      maxnumber: 50_000,
      expires: new Date(server.services.clock.nowMs() + 60_000),
    });
    const solved = solve(theirs as never);
    expect(await verifySolution(solved, key)).toBe(true);
    expect((await post({ message: "Hello" }, solved)).status).toBe(200);
  });
});

describe("with auto", () => {
  test("a challenge applies while the token's window is more than half full", async () => {
    const { post } = await open({ challenge: "auto" });
    for (let taken = 0; taken < 16; taken++) {
      const response = await post({ message: "Hello" }, "ignored");
      expect([taken, response.status, leftOf(response)]).toEqual([taken, 200, 29 - taken]);
      await response.text();
    }
    const solution = solve(await readChallenge(await post({ message: "Hello" })));
    const answered = await post({ message: "Hello" }, solution);
    expect([answered.status, leftOf(answered)]).toEqual([200, 13]);
  });

  test("a flood without work, from everywhere, leaves the places to those who work", async () => {
    const { post } = await open({ challenge: "auto" });
    const statuses = new Map<number, number>();
    const served: number[] = [];
    for (let i = 0; i < 2_000; i++) {
      const address = { "x-forwarded-for": `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` };
      const response = await post({ message: "Flood" }, undefined, address);
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      const body = await response.text();
      if (i % 200 !== 199) continue;
      const answered = await post({ message: "Hello" }, solve(JSON.parse(body).challenge), {
        "x-forwarded-for": "192.0.2.1",
      });
      served.push(answered.status);
      await answered.text();
    }
    expect(Object.fromEntries(statuses)).toEqual({ 200: 16, 403: 1_984 });
    expect(served).toEqual(Array(10).fill(200));
  });
});
