/** What providers and hosts answer, recorded once, and the same again without them. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LlmProvider, ReplyRequest } from "../../src/contracts/llm/provider.ts";
import { createRecordedClock } from "../../src/core/evals/recordings/recorded-clock.ts";
import {
  createRecordedEmbeddings,
  createRecordedFetcher,
  createRecordedMcpTools,
} from "../../src/core/evals/recordings/recorded-knowledge.ts";
import { createRecordedLlm } from "../../src/core/evals/recordings/recorded-llm.ts";
import { createRecordings, openRecordings, type Recordings } from "../../src/core/evals/recordings/recordings.ts";
import { createFetcher } from "../../src/core/knowledge/fetching/fetcher.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { findFailureKind } from "../../src/domain/reply-failure.ts";
import { createOpenAiEmbeddings } from "../../src/engines/openai/embeddings.ts";
import { createOpenAiProvider } from "../../src/engines/openai/openai.ts";
import { parseAllowedHost } from "../../src/lib/allowed-hosts.ts";
import { replyRequest } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { createTestClient, forever, startStateless } from "../support/mcp-servers.ts";
import { mockVector, respondWithEmbeddings } from "../support/mock-embeddings.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { wholeStream } from "../support/mock-llm-replies.ts";

const log = createCapturedLog();
const nowMs = Date.UTC(2026, 2, 4, 5, 6, 7, 890);
let directory: string;
let mock: MockLlm;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "companiond-recordings-"));
  mock = await startMockLlm();
});
afterEach(async () => {
  await mock.close();
  rmSync(directory, { recursive: true, force: true });
});

const files = () => readdirSync(directory).filter((name) => name !== "recording.json");
const readFiles = () => files().map((name) => readFileSync(join(directory, name), "utf8"));

function openLlm(recordings: Recordings, extra: JsonObject | null = null) {
  let ticks = 0;
  // Each reading takes ten milliseconds.
  const clock = createRecordedClock(recordings, { nowMs: () => nowMs, monotonicMs: () => ++ticks * 10 });
  const options = { apiKey: "sk-secret-key", baseUrl: `${mock.url}/v1`, extra: extra ?? {}, backoffMs: 1, log };
  const provider =
    recordings.mode === "replay" ? null : createOpenAiProvider({ ...options, headers: { "X-Team": "hidden-header" } });
  const llm = createRecordedLlm(provider, { recordings, clock, extra });
  return { llm, clock };
}

async function ask(llm: LlmProvider, message: string, fields: Partial<ReplyRequest> = {}, afterText = () => {}) {
  const reply = collectReply();
  const sink = {
    emit(event: Parameters<typeof reply.emit>[0]) {
      afterText();
      return reply.emit(event);
    },
  };
  const outcome = await llm.streamReply(replyRequest(message, fields), sink, new AbortController().signal);
  return { ...outcome, text: reply.text };
}

describe("replies", () => {
  test("are the same without a provider, with usage, reason, calls and durations", async () => {
    const recorded = openLlm(await createRecordings(directory, nowMs));
    const tools = [{ name: "look_up", description: "Looks up", parameters: { type: "object" } }];
    const plain = await ask(recorded.llm, "Hi");
    const called = await ask(recorded.llm, '[[call:look_up {"city":"Oslo"}]]', { tools });
    const calls = (called.calls ?? []).map((call) => ({ ...call, result: "Rain", outcome: "done" as const }));
    const rounds = [{ text: "", calls, carry: called.carry }];
    await ask(recorded.llm, '[[call:look_up {"city":"Oslo"}]]', { tools, rounds });
    recorded.llm.close();
    await mock.close();

    const { llm, clock } = openLlm(await openRecordings(directory));
    const atFirst: number[] = [];
    const again = await ask(llm, "Hi", { requestId: "other", accountId: "other" }, () => {
      atFirst.push(clock.monotonicMs());
    });
    const { text, complete, finishReason, answeredBy, usage } = plain;
    expect(again).toEqual({ text, complete, finishReason, answeredBy, usage, failure: null, calls: [] });
    expect(again).toMatchObject({ text: "You said: Hi", finishReason: "stop", usage: { inputTokens: 11 } });
    expect([...atFirst, clock.monotonicMs()]).toEqual([10, 20]);
    const calledAgain = await ask(llm, '[[call:look_up {"city":"Oslo"}]]', { tools });
    expect(calledAgain.calls).toEqual([{ id: "call_1", name: "look_up", arguments: '{"city":"Oslo"}' }]);
    // The provider's own name of the call is no part of the request.
    const answered = [{ ...calledAgain.calls?.[0], result: "Rain", outcome: "done" } as (typeof calls)[number]];
    const last = await ask(llm, '[[call:look_up {"city":"Oslo"}]]', {
      ...{ tools, rounds: [{ text: "", calls: answered, carry: null }] },
    });
    expect(last.text).toBe("The tools said: Rain");
    expect(clock.nowMs()).toBe(Date.UTC(2026, 2, 4, 5, 6, 7));
  });

  test("hold no key, header, address or id, and are named by the request with the operator's extra", async () => {
    const extra = { top_p: 0.5 };
    const { llm } = openLlm(await createRecordings(directory, nowMs), extra);
    await ask(llm, "Hi", { requestId: "request-7", accountId: "account-7" });
    const [text = ""] = readFiles();
    for (const secret of ["sk-secret-key", "hidden-header", mock.url, "request-7", "account-7"]) {
      expect(text).not.toContain(secret);
    }
    const other = openLlm(await openRecordings(directory), { top_p: 0.6 });
    expect(ask(other.llm, "Hi")).rejects.toMatchObject({ code: "upstream_error" });
    const same = openLlm(await openRecordings(directory), extra);
    expect(await ask(same.llm, "Hi")).toMatchObject({ text: "You said: Hi" });
  });

  test("to the same request come in the order in which they came, and no more often", async () => {
    const recordings = await createRecordings(directory, nowMs);
    const { llm } = openLlm(recordings);
    for (const word of ["one", "two"]) {
      mock.respond(async (_, response) => {
        await response.write(wholeStream([word]).join(""));
        response.end();
      });
      await ask(llm, "Hi");
    }
    const replayed = await openRecordings(directory);
    const { llm: again } = openLlm(replayed);
    expect([(await ask(again, "Hi")).text, (await ask(again, "Hi")).text]).toEqual(["one", "two"]);
    expect(ask(again, "Hi")).rejects.toMatchObject({ code: "upstream_error" });
    expect(replayed.takeMiss()).toContain("was recorded 2 times, and is asked for once more");
    expect(replayed.takeMiss()).toBeNull();
  });

  test("that a request was refused are replayed, and that a provider was away is not kept", async () => {
    const { llm } = openLlm(await createRecordings(directory, nowMs));
    expect(await ask(llm, "[[fail:400]]").catch(findFailureKind)).toBe("refused_request");
    expect(await ask(llm, "[[fail:500]]").catch(findFailureKind)).toBe("provider_error");
    expect(files()).toHaveLength(1);
    const { llm: again } = openLlm(await openRecordings(directory));
    expect(await ask(again, "[[fail:400]]").catch(findFailureKind)).toBe("refused_request");
  });

  test("that are missing are explained by the nearest, and nothing is asked", async () => {
    const recordings = await createRecordings(directory, nowMs);
    const { llm } = openLlm(recordings);
    await ask(llm, "When are you open on Sundays?", { systemPrompt: "You are Ada." });
    await ask(llm, "Hi", { systemPrompt: "Somebody else entirely.", temperature: 1, maxOutputTokens: 7 });
    for (const other of ["Who?", "Where?", "Whom?"]) await ask(llm, other, { systemPrompt: "You are Ada." });
    const asked = mock.connections;
    const replayed = await openRecordings(directory);
    await ask(openLlm(replayed).llm, "When are you open on Mondays?", { systemPrompt: "You are Ada." }).catch(() => {});
    expect(replayed.takeMiss()).toMatch(
      /has no recording of this reply request\. The nearest, [0-9a-f]{64}\.json, differs in messages\[0\]\.text: recorded is "…re you open on Sundays\?", asked is "…re you open on Mondays\?"\.$/,
    );
    expect(mock.connections).toBe(asked);
    const none = await openRecordings(join(directory, "none"));
    await ask(openLlm(none).llm, "Hi").catch(() => {});
    expect(none.takeMiss()).toEndWith("has no recording of this reply request, nor any other of its kind.");
  });

  test("recorded again replace what was there; what nothing asked for is listed, and a broken file is named", async () => {
    const { llm } = openLlm(await createRecordings(directory, nowMs));
    await ask(llm, "Hi");
    const [kept = ""] = files();
    await ask(llm, "Old");
    const again = await createRecordings(directory, nowMs + 60_000);
    await ask(openLlm(again).llm, "Hi");
    expect(JSON.parse(readFileSync(join(directory, kept), "utf8")).answers).toHaveLength(1);
    expect(await again.listUnasked()).toEqual(files().filter((name) => name !== kept));
    writeFileSync(join(directory, kept), "{");
    const broken = await openRecordings(directory);
    await ask(openLlm(broken).llm, "Hi").catch(() => {});
    expect(broken.takeMiss()).toBe(`${join(directory, kept)} is no recording: record it again`);
    writeFileSync(join(directory, kept), "{}");
    await ask(openLlm(broken).llm, "Hi").catch(() => {});
    expect(broken.takeMiss()).toBe(`${join(directory, kept)} is no recording: record it again`);
    for (const facts of ["<<<<<<< main", '{"recorded_at": "yesterday"}']) {
      writeFileSync(join(directory, "recording.json"), facts);
      expect(openRecordings(directory)).rejects.toThrow("recording.json is no recording: record it again");
    }
    expect(createRecordings(join(directory, kept), nowMs)).rejects.toThrow("nothing can be recorded there (");
  });
});

describe("knowledge", () => {
  test("vectors are the same whatever they come together with", async () => {
    mock.respond(respondWithEmbeddings());
    const options = { apiKey: null, baseUrl: `${mock.url}/v1`, headers: {}, model: "embed-1", log };
    const recorder = createRecordedEmbeddings(
      ...(["embed-1", createOpenAiEmbeddings(options), await createRecordings(directory, nowMs)] as const),
    );
    await recorder.embed(["bikes", "boats"], forever);
    recorder.close();
    const recordings = await openRecordings(directory);
    const replayer = createRecordedEmbeddings("embed-1", null, recordings);
    const { vectors } = await replayer.embed(["boats"], forever);
    expect([...(vectors[0] ?? [])]).toEqual([...mockVector("boats")]);
    expect((await replayer.embed(["boats", "bikes"], forever)).vectors).toHaveLength(2);
    expect(replayer.embed(["trains"], forever)).rejects.toThrow("has no recording of this embedding request");
    // Words do instead, so that no reply shows it.
    const unanswered = await createRecordings(directory, nowMs);
    mock.respond((_, response) => response.send(401, {}, "{}"));
    const failing = createRecordedEmbeddings("embed-1", createOpenAiEmbeddings(options), unanswered);
    await failing.embed(["trains"], forever).catch(() => {});
    expect(unanswered.takeMiss()).toBe("There will be no recording of this embedding request: it was not answered.");
  });

  test("pages, also those that are gone or no UTF-8, and lists of pages are the same", async () => {
    using site = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request) {
        const { pathname, origin } = new URL(request.url);
        if (pathname === "/page")
          return new Response("<p>Grüezi</p>", { headers: { "content-type": "text/html; charset=utf-8" } });
        if (pathname === "/latin")
          return new Response(new Uint8Array([0xe9, 0x00]), { headers: { "content-type": "text/plain" } });
        if (pathname === "/sitemap.xml") return new Response(`<urlset><url><loc>${origin}/page</loc></url></urlset>`);
        return new Response("", { status: pathname === "/busy" ? 503 : 404 });
      },
    });
    const { origin } = site.url;
    const allowed = [parseAllowedHost("127.0.0.0/8")].flatMap((one) => one ?? []);
    const recorder = createRecordedFetcher(
      createFetcher({ allowed, ownHosts: [] }),
      await createRecordings(directory, nowMs),
    );
    const outcome = (run: Promise<unknown>) => run.catch((error: Error) => error.message);
    const readAll = async (fetcher: typeof recorder) => [
      await fetcher.fetch(`${origin}/page`, { signal: forever }),
      await fetcher.fetch(`${origin}/latin`, { signal: forever }),
      await outcome(fetcher.fetch(`${origin}/gone`, { signal: forever })),
      await fetcher.listPages(`${origin}/sitemap.xml`, forever),
    ];
    const first = await readAll(recorder);
    expect(await outcome(recorder.fetch(`${origin}/busy`, { signal: forever }))).toContain("503");
    expect(files()).toHaveLength(4);
    await site.stop(true);
    const replayer = createRecordedFetcher(null, await openRecordings(directory));
    const [page, ...others] = await readAll(replayer);
    expect([page, ...others]).toEqual(first);
    expect(page).toMatchObject({ contentType: "text/html", charset: "utf-8" });
    expect(others[1]).toBe("The page does not exist (404).");
    expect(replayer.fetch(`${origin}/busy`, { signal: forever })).rejects.toThrow("no recording of this page request");
  });

  test("a server's list of tools is the same, and its tools are not called", async () => {
    const executed: string[] = [];
    const server = startStateless({} as never, executed);
    const { mcp } = createTestClient();
    const at = { toolId: "t", url: server.url, headers: { authorization: "Bearer hidden" }, timeoutMs: 5_000 };
    const recorder = createRecordedMcpTools(mcp, await createRecordings(directory, nowMs));
    const listed = await recorder.list(at, forever);
    expect(listed).toMatchObject({ outcome: "listed" });
    expect(readFiles().join("")).not.toContain("hidden");
    await server.stop();
    const unanswered = await createRecordings(directory, nowMs);
    recorder.forget("t");
    const later = createRecordedMcpTools(mcp, unanswered);
    expect(await later.list(at, forever)).toMatchObject({ outcome: "failed" });
    expect(unanswered.takeMiss()).toContain(`no recording of this tools request (${at.url})`);
    recorder.close();
    const recordings = await openRecordings(directory);
    const replayer = createRecordedMcpTools(null, recordings);
    expect(await replayer.list(at, forever)).toEqual(listed);
    expect(await replayer.call(at, { id: "1", name: "x", arguments: {} }, forever)).toMatchObject({
      outcome: "failed",
    });
    expect(executed).toEqual([]);
    expect(await replayer.list({ ...at, url: `${server.url}/other` }, forever)).toMatchObject({ outcome: "failed" });
    expect(recordings.takeMiss()).toContain("no recording of this tools request");
  });
});
