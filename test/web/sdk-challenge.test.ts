/** The SDK and companions that ask for a proof of work. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { search } from "../../src/web/sdk/challenge-search.ts";
import { solveChallenge } from "../../src/web/sdk/challenge-solver.ts";
import { type ChallengeSolver, createCompanion } from "../../src/web/sdk/index.ts";
import { collect, openMemory } from "../support/sdk-world.ts";
import { startVoiceServer, type VoiceServer } from "../support/voice-server.ts";

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const challengeFor = (salt: string, number: number, maxnumber: number) => ({
  ...{ algorithm: "SHA-256", challenge: hashOf(salt + number), maxnumber, salt, signature: "" },
});

describe("the solver", () => {
  test("agrees with SHA-256 whatever the length of the salt", () => {
    for (let length = 0; length < 140; length++) {
      const salt = "x".repeat(length);
      for (const number of [0, 9, 10, 250])
        expect([length, search(salt, hashOf(salt + number), 0, 250)]).toEqual([length, number]);
    }
    expect(search("schön", hashOf("schön42"), 40, 45)).toBe(42);
    expect(search("salt", hashOf("salt42"), 0, 41)).toBe(-1);
  });

  test("works with workers and without, and says so where nothing solves it", async () => {
    const { Worker } = globalThis;
    try {
      for (const kind of [
        Worker,
        undefined,
        class {
          constructor() {
            throw new Error("forbidden");
          }
        },
      ]) {
        Object.assign(globalThis, { Worker: kind });
        expect(JSON.parse(atob(await solveChallenge(challengeFor("salt", 12_345, 20_000))))).toEqual({
          ...{ algorithm: "SHA-256", challenge: hashOf("salt12345"), number: 12_345, salt: "salt", signature: "" },
        });
        await expect(solveChallenge(challengeFor("salt", 3, 2))).rejects.toThrow("has no solution");
      }
    } finally {
      Object.assign(globalThis, { Worker });
    }
  });

  test("stops with the signal, wherever it works", async () => {
    const { Worker } = globalThis;
    try {
      for (const kind of [Worker, undefined]) {
        Object.assign(globalThis, { Worker: kind });
        const stop = new AbortController();
        const solving = solveChallenge(challengeFor("salt", 1e9, 1e9), stop.signal);
        setTimeout(() => stop.abort(new Error("stopped")));
        await expect(solving).rejects.toThrow("stopped");
      }
    } finally {
      Object.assign(globalThis, { Worker });
    }
  });
});

describe("with a companion that asks", () => {
  let server: VoiceServer;
  let token: string;
  beforeAll(async () => {
    server = await startVoiceServer();
    token = (await server.createCompanion({ challenge: "always", voiceId: "voice_1" })).embedToken;
  });
  afterAll(() => server.close());
  afterEach(() => sent.splice(0));

  const sent: { method: string; challenge: string | null }[] = [];
  /** `lose` makes a request break before it is heard. */
  function open(solve: ChallengeSolver = solveChallenge, lose = (_count: number) => false) {
    return createCompanion({
      ...{ baseUrl: server.url, token, storage: openMemory(), solveChallenge: solve, reconnectDelaysMs: [0, 0] },
      async fetch(url, init) {
        const challenge = new Headers(init.headers).get("x-challenge");
        sent.push({ method: init.method ?? "GET", challenge });
        if (lose(sent.length)) throw new TypeError("The line is cut.");
        return fetch(url, init);
      },
    });
  }

  test("messages and voice sessions are answered, and the page can show that it takes a moment", async () => {
    const told: boolean[] = [];
    const companion = open();
    const reply = companion.chat("hello", { onChallenge: (isSolving) => told.push(isSolving) });
    expect(await collect(reply)).toEqual({ text: "You said: hello", error: null });
    expect(told).toEqual([true, false]);
    expect(await companion.voice()).toMatchObject({ signedUrl: expect.stringContaining("://") });
    expect(await companion.config()).toMatchObject({ challenge: true });
  });

  test("a message that was lost on the way is sent again with the same solution", async () => {
    const companion = open(solveChallenge, (count) => count === 2);
    expect(await collect(companion.chat("hello"))).toEqual({ text: "You said: hello", error: null });
    expect(sent.map(({ method }) => method)).toEqual(["POST", "POST", "POST"]);
    expect(sent[0]?.challenge).toBeNull();
    expect(sent[1]?.challenge).not.toBeNull();
    expect(sent[2]?.challenge).toBe(sent[1]?.challenge as string);
  });

  test("a challenge that ended meanwhile is solved anew, once", async () => {
    let solved = 0;
    const slow = (times: number) =>
      open(async (challenge) => {
        const solution = await solveChallenge(challenge);
        if (++solved <= times) server.advance(301_000);
        return solution;
      });
    expect(await collect(slow(1).chat("hello"))).toEqual({ text: "You said: hello", error: null });
    expect(solved).toBe(2);
    solved = 0;
    expect((await collect(slow(9).chat("hello"))).error).toMatchObject({ code: "challenge_required", status: 403 });
    expect(solved).toBe(2);
  });

  test("whoever stops while it is solved waits for nothing", async () => {
    const stop = new AbortController();
    const companion = open(() => {
      stop.abort();
      return new Promise(() => {});
    });
    expect((await collect(companion.chat("hello", { signal: stop.signal }))).error).toMatchObject({
      name: "AbortError",
    });
  });

  test("a solver that fails leaves the refusal, with its challenge", async () => {
    const { error } = await collect(open(() => Promise.reject(new Error("no solver"))).chat("hello"));
    expect(error).toMatchObject({ code: "challenge_required", status: 403, challenge: { algorithm: "SHA-256" } });
  });
});
