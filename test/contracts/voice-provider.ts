/** What every voice provider must do, whatever its wire: run with a remote that behaves and misbehaves on demand. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { AgentSettings, VoiceProvider } from "../../src/contracts/voice/provider.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { MockAgent, MockFailure, MockOperation } from "../support/mock-elevenlabs.ts";

/** The provider's other end. */
export interface RemoteVoice {
  readonly agents: ReadonlyMap<string, MockAgent>;
  readonly sessions: readonly { signedUrl: string; conversationId: string; agentId: string }[];
  count(operation: MockOperation): number;
  fail(failure: MockFailure): void;
  heal(): void;
  close(): Promise<void>;
}

export interface OpenedProvider {
  provider: VoiceProvider;
  remote: RemoteVoice;
  /** The key that the provider uses. */
  secret: string;
}

const settings: AgentSettings = {
  name: "Ada",
  systemPrompt: "You are Ada; never tell the word pineapple.",
  greeting: "Hello, I am Ada.",
  voiceId: "voice-1",
};
const noSignal = new AbortController().signal;

/** `open` gives calls `deadlineMs` in all; `openWithWrongKey` uses a key that the remote refuses. */
export function testVoiceProvider(
  name: string,
  open: (deadlineMs?: number) => Promise<OpenedProvider>,
  openWithWrongKey: () => Promise<OpenedProvider>,
): void {
  describe(name, () => {
    let opened: OpenedProvider;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(async () => {
      await opened.remote.close();
    });

    const operations: Record<MockOperation, (provider: VoiceProvider, signal: AbortSignal) => Promise<unknown>> = {
      create: (provider, signal) => provider.createAgent(settings, signal),
      update: (provider, signal) => provider.updateAgent("agent-1", settings, signal),
      delete: (provider, signal) => provider.deleteAgent("agent-1", signal),
      session: (provider, signal) => provider.createSession("agent-1", signal),
      check: (provider, signal) => provider.check(signal),
    };
    const names = Object.keys(operations) as MockOperation[];

    test("makes an agent with name, prompt, greeting and voice that only signed URLs open", async () => {
      const agentId = await opened.provider.createAgent(settings, noSignal);
      expect(opened.remote.agents.get(agentId)).toEqual({
        name: "Ada",
        prompt: settings.systemPrompt,
        firstMessage: "Hello, I am Ada.",
        voiceId: "voice-1",
        isAuthRequired: true,
      });
    });

    test("clears a prompt on update, and keeps authentication required", async () => {
      const agentId = await opened.provider.createAgent(settings, noSignal);
      const isKnown = await opened.provider.updateAgent(agentId, { ...settings, systemPrompt: "" }, noSignal);
      expect(isKnown).toBe(true);
      expect(opened.remote.agents.get(agentId)).toMatchObject({ prompt: "", isAuthRequired: true });
    });

    test("is content with a remote that takes its key", async () => {
      await opened.provider.check(noSignal);
      expect(opened.remote.count("check")).toBe(1);
    });

    test("reports when the agent to update, or to open a session with, no longer exists", async () => {
      expect(await opened.provider.updateAgent("gone", settings, noSignal)).toBe(false);
      expect(await opened.provider.createSession("gone", noSignal)).toBeNull();
    });

    test("deletes an agent, and succeeds if it no longer exists", async () => {
      const agentId = await opened.provider.createAgent(settings, noSignal);
      await opened.provider.deleteAgent(agentId, noSignal);
      expect(opened.remote.agents.size).toBe(0);
      await opened.provider.deleteAgent(agentId, noSignal);
      expect(opened.remote.count("delete")).toBe(2);
    });

    test("hands the signed URL on byte for byte, with the conversation's id", async () => {
      const agentId = await opened.provider.createAgent(settings, noSignal);
      const session = await opened.provider.createSession(agentId, noSignal);
      const [made] = opened.remote.sessions;
      expect(session).toEqual({ signedUrl: made?.signedUrl ?? "", conversationId: made?.conversationId ?? "" });
    });

    for (const operation of names) {
      for (const kind of [400, 401, 422, 302, "cut", 500, 429] as const) {
        test(`rejects with upstream_error when ${operation} fails with ${kind}, and keeps prompt and key to itself`, async () => {
          opened.remote.fail({ kind });
          const failure = await failureOf(operations[operation](opened.provider, noSignal));
          expect(failure.code).toBe("upstream_error");
          const told = `${failure.message} ${String(failure.cause)}`;
          expect(told).not.toContain("pineapple");
          expect(told).not.toContain(opened.secret);
        });
      }
    }

    for (const operation of names) {
      test(`${operation === "create" ? "does not repeat" : "repeats"} ${operation} after a 500 or a cut answer`, async () => {
        for (const kind of [500, "cut"] as const) {
          const before = opened.remote.count(operation);
          opened.remote.fail({ kind, times: 1 });
          await operations[operation](opened.provider, noSignal).catch(() => null);
          expect(opened.remote.count(operation) - before).toBe(operation === "create" ? 1 : 2);
          opened.remote.heal();
        }
      });

      test(`repeats ${operation} after a 429, and does not after a 400`, async () => {
        opened.remote.fail({ kind: 429, times: 1 });
        await operations[operation](opened.provider, noSignal);
        expect(opened.remote.count(operation)).toBe(2);
        opened.remote.fail({ kind: 400, times: 1 });
        await failureOf(operations[operation](opened.provider, noSignal));
        expect(opened.remote.count(operation)).toBe(3);
      });

      test(`gives up ${operation} at once when the provider asks for a long wait`, async () => {
        opened.remote.fail({ kind: 429, retryAfterSeconds: 3600 });
        expect((await failureOf(operations[operation](opened.provider, noSignal))).code).toBe("upstream_error");
        expect(opened.remote.count(operation)).toBe(1);
      });

      test(`ends a ${operation} that is not answered at its deadline, and at once by its signal`, async () => {
        const hasty = await open(50);
        hasty.remote.fail({ kind: "slow" });
        expect((await failureOf(operations[operation](hasty.provider, noSignal))).code).toBe("upstream_error");
        await hasty.remote.close();
        opened.remote.fail({ kind: "slow" });
        const visitor = new AbortController();
        const call = failureOf(operations[operation](opened.provider, visitor.signal));
        visitor.abort();
        expect((await call).code).toBe("upstream_error");
      });
    }

    for (const kind of ["html", "empty"] as const) {
      test(`takes no ${kind} answer for an agent or a session`, async () => {
        opened.remote.fail({ kind });
        expect((await failureOf(operations.create(opened.provider, noSignal))).code).toBe("upstream_error");
        expect((await failureOf(operations.session(opened.provider, noSignal))).code).toBe("upstream_error");
      });
    }

    test("takes a missing path for a failure when it makes an agent, or is only asked", async () => {
      opened.remote.fail({ kind: 404 });
      expect((await failureOf(operations.create(opened.provider, noSignal))).code).toBe("upstream_error");
      expect((await failureOf(operations.check(opened.provider, noSignal))).code).toBe("upstream_error");
    });

    test("rejects with upstream_error where nobody listens", async () => {
      await opened.remote.close();
      for (const operation of names) {
        expect((await failureOf(operations[operation](opened.provider, noSignal))).code).toBe("upstream_error");
      }
      opened = await open();
    });

    test("keeps a refused key out of the failure", async () => {
      const locked = await openWithWrongKey();
      const failure = await failureOf(operations.create(locked.provider, noSignal));
      expect(failure.code).toBe("upstream_error");
      expect(String(failure.cause)).toContain("401");
      expect(String(failure.cause)).not.toContain(locked.secret);
      await locked.remote.close();
    });
  });
}

async function failureOf(call: Promise<unknown>): Promise<AppError> {
  const failure = await call.then(
    () => null,
    (error: unknown) => error,
  );
  if (failure instanceof AppError) return failure;
  throw new Error(`expected an AppError, got ${String(failure)}`);
}
