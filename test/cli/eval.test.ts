/** `companiond eval` on files of companions: asked live, recorded, and the same to the byte without any provider. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { runCommand } from "../support/cli.ts";
import { startStateless } from "../support/mcp-servers.ts";
import { isEmbeddingRequest, respondWithEmbeddings } from "../support/mock-embeddings.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { createDirectiveResponder } from "../support/mock-llm-directives.ts";
import { wholeStream } from "../support/mock-llm-replies.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

let dir: TemporaryDirectory;
let mock: MockLlm;
beforeEach(async () => {
  dir = temporaryDirectory();
  mock = await startMockLlm();
  for (const folder of ["companions", "evals"]) mkdirSync(dir.file(folder));
  write("companions/ada.yaml", companion);
  write("companions/shop.md", "# The shop\n\n## Guarantee\n\nNew bicycles have a guarantee of five years.\n");
});
afterEach(async () => {
  await mock.close();
  dir[Symbol.dispose]();
});

const companion = `
slug: ada
name: Ada
system_prompt: You are Ada, and speak with {{visitor.name}}.
visitor_auth: optional
citations: none
tools:
  - name: find_order
    description: Finds an order.
    url: https://shop.example/orders
    confirm: true
sources:
  - {slug: shop, title: The shop, text_file: shop.md}
`;

const write = (name: string, text: string) => writeFileSync(dir.file(name), text);
const read = (name: string) => readFileSync(dir.file(name), "utf8");

function writeSuite(cases: string, name = "evals/shop.yaml") {
  write(name, `suite: Shop\ncompanion: ada\ncases:\n${cases.replace(/^/gm, "  ")}`);
}

const provider = () => ({
  OPENAI_API_KEY: "sk-secret-key",
  OPENAI_BASE_URL: `${mock.url}/v1`,
  COMPANIOND_MODEL: "test-model",
  COMPANIOND_LLM_API: "chat",
  COMPANIOND_PRICES: '{"test-model": {"input": 1, "output": 2}}',
});

async function run(options: string[], environment: Record<string, string> = provider()) {
  const words = ["eval", dir.file("evals"), "-f", dir.file("companions"), ...options];
  const { exitCode, stdout, stderr } = await runCommand(words, { environment });
  const json = options.includes("--json") ? JSON.parse(stdout) : null;
  return { exitCode, stdout, stderr, json };
}

const whole = `
- name: a whole conversation
  repeat: 2
  visitor: {name: Mia}
  history: [{role: user, text: Hello}, {role: assistant, text: Hi!}]
  turns:
    - user: How long is the guarantee?
      expect:
        - equals: You have five years.
        - cites: The shop
        - language: en
        - max_total_ms: 60000
        - judge: The reply is short.
    - user: '[[call:find_order {"number":"4711"}]]'
      tools: {find_order: {result: {state: sent}}}
      expect:
        - calls: {tool: find_order, arguments: {number: "4711"}}
        - contains: '"state":"sent"'
        - max_cost_micros: 50
- name: an order without an answer
  turns:
    - user: '[[call:find_order {"number":"1"}]]'
`;

/** Judges get this answer, who asks for the guarantee another, and all else is as the mock does it. Returns what they were asked. */
function answerJudges(...answer: string[]): Record<string, unknown>[] {
  const judged: Record<string, unknown>[] = [];
  const usual = createDirectiveResponder(mock.models);
  mock.respond(async (request, response) => {
    const isJudge = "response_format" in request.body;
    if (!isJudge && !request.userText.includes("guarantee")) return await usual(request, response);
    if (isJudge) judged.push(request.body);
    await response.write(wholeStream(isJudge ? answer : ["You have ", "five years[1]."]).join(""));
    response.end();
  });
  return judged;
}

test("what is recorded is replayed without a provider, its key and its settings, twice the same to the byte", async () => {
  writeSuite(whole);
  const judged = answerJudges('{"pass": true, ', '"reason": "It is."}');
  const recorded = await run(["--record", dir.file("recordings"), "--json"]);
  expect([recorded.exitCode, recorded.stderr]).toEqual([1, ""]);
  expect(recorded.json).toMatchObject({ cases: 2, passed: 1, failed: 1, errors: 0, unused_recordings: [] });
  const [good, bad] = recorded.json.suites[0].cases;
  expect(good).toMatchObject({ status: "passed", passes: 2, runs: 2 });
  expect(bad.attempts[0].turns[0].detail).toContain('called find_order with {"number":"1"}');
  expect(good.attempts[0].turns[0]).toMatchObject({ reply: "You have five years.", cited: [{ title: "The shop" }] });
  expect(good.attempts[0].turns[1]).toMatchObject({ cost_micros: 50 });
  expect(judged[0]).toMatchObject({ temperature: 0, response_format: { type: "json_schema" } });
  // The visitor, the history and what was said before reach the model, and no call reaches a tool.
  const [first, , second] = mock.requests.map(({ body }) => JSON.stringify(body.messages));
  expect(first).toContain("speak with Mia");
  expect(first).toContain("Hello");
  expect(second).toContain("five years");
  const files = readdirSync(dir.file("recordings"))
    .map((name) => read(`recordings/${name}`))
    .join("");
  expect(files).not.toMatch(/sk-secret|Authorization|127\.0\.0\.1/i);

  await mock.close();
  const replays = [];
  for (const name of ["one.xml", "other.xml"]) {
    const replay = await run(["--replay", dir.file("recordings"), "--json", "--junit", dir.file(name)], {});
    expect([replay.exitCode, replay.stderr]).toEqual([1, ""]);
    replays.push(replay.stdout + read(name));
  }
  expect(replays[0]).toBe(replays[1] ?? "");
  // Neither a device nor a pipe has a length.
  const unkept = await run(["--replay", dir.file("recordings"), "--json", "--junit", "/dev/null"], {});
  expect([unkept.exitCode, unkept.stderr]).toEqual([1, ""]);
  const { unused_recordings: _, ...same } = recorded.json;
  // Rounds of one reply are timed one by one.
  const untimed = (value: unknown) => JSON.stringify(value).replace(/"(first_text|total)_ms":\d+/g, "");
  expect(untimed(JSON.parse(replays[0]?.split("<?xml")[0] ?? ""))).toBe(untimed(same));

  write("companions/ada.yaml", companion.replace("You are Ada", "You are Eve"));
  const missed = await run(["--replay", dir.file("recordings")], {});
  expect(missed.exitCode).toBe(3);
  expect(missed.stdout).toContain('recorded is "You are Ada');
});

test("pages, vectors and lists of tools are recorded, and what no recording has of them is no case's matter alone", async () => {
  using site = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: () =>
      new Response("<h1>Visit</h1><p>We are open on Saturday.</p>", { headers: { "content-type": "text/html" } }),
  });
  const tools = startStateless({} as never);
  const usual = createDirectiveResponder(mock.models);
  const embed = respondWithEmbeddings();
  mock.respond((request, response) => (isEmbeddingRequest(request) ? embed : usual)(request, response));
  const sources = `\n  - {slug: visit, url: "${site.url}visit"}\ntools: [{name: shop, mcp_url: "${tools.url}"}]\n`;
  write("companions/ada.yaml", companion.replace(/tools:\n(.*\n)*?sources:/, "sources:").trimEnd() + sources);
  writeSuite(
    "- name: saturday\n  turns:\n    - user: Are you open on Saturday?\n      expect: [{contains: Are you open}]\n",
  );
  const environment = {
    ...provider(),
    COMPANIOND_EMBEDDING_MODEL: "embed-1",
    COMPANIOND_PRIVATE_SOURCES: "127.0.0.0/8",
    COMPANIOND_PRIVATE_TARGETS: "127.0.0.0/8",
  };
  const recorded = await run(["--record", dir.file("recordings"), "--json"], environment);
  expect(recorded.json).toMatchObject({ passed: 1, problems: [] });
  const asked = mock.requests.find(({ body }) => "tools" in body);
  expect(JSON.stringify(asked?.body)).toContain("shop_");
  expect(JSON.stringify(asked?.body)).toContain("open on Saturday");
  await Promise.all([site.stop(true), tools.stop(), mock.close()]);
  const replay = await run(["--replay", dir.file("recordings"), "--json"], {});
  expect([replay.exitCode, replay.json.passed]).toEqual([0, 1]);

  write(
    "companions/ada.yaml",
    companion.replace("{slug: shop, title: The shop, text_file: shop.md}", "{slug: a, url: https://a.example}"),
  );
  const missed = await run(["--replay", dir.file("recordings"), "--json"], {});
  expect([missed.exitCode, missed.json.recording_missing]).toEqual([3, true]);
  expect(missed.json.problems).toEqual([
    expect.stringContaining("no recording of this page request"),
    expect.stringContaining("was not read"),
  ]);
});

describe.each<[string, string[], RegExp]>([
  ["no mode", ["-f", "x"], /give one of --replay, --record and --live/],
  ["two modes", ["-f", "x", "--live", "--replay", "y"], /give one of --replay, --record and --live/],
  ["no companions", ["--live"], /give one of -f, --account and --url/],
  ["companions twice", ["--live", "-f", "x", "--account", "a@example.com"], /give one of -f/],
  [
    "a recording of an account",
    ["--record", "y", "--account", "a@example.com"],
    /--record needs the companions' files/,
  ],
  ["a draft of files", ["--live", "-f", "x", "--draft"], /--draft and --version are of an account's/],
  [
    "a draft and a version",
    ["--live", "--account", "a@example.com", "--draft", "--version", "1"],
    /a draft is no version/,
  ],
  ["no key", ["--live", "--url", "https://a.example"], /--url needs --api-key-file/],
  ["a count of nothing", ["--live", "-f", "x", "--repeat", "0"], /--repeat must be a number/],
  ["a negative price", ["--live", "-f", "x", "--max-cost=-1"], /--max-cost must be a number/],
])("with %s", (_, options, sentence) => {
  test("it is misuse", async () => {
    const { exitCode, stderr } = await runCommand(["eval", "suites", ...options]);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(sentence)]);
  });
});

const simple = (user: string, expect = "[]") => `- name: one\n  turns: [{user: "${user}", expect: ${expect}}]\n`;

test("faults of suites and of companions are all named with their lines, and nothing is asked", async () => {
  writeSuite(simple("Hi", "[{contain: a}]"));
  writeSuite(simple("Hi").replace("one", "two"), "evals/more.yaml");
  const suites = await run(["--live"]);
  expect([suites.exitCode, suites.stdout]).toEqual([1, expect.stringMatching(/shop\.yaml:5: .*Did you mean contains/)]);
  writeSuite(simple("Hi").replace("Hi", "Hello"));
  write("companions/ada.yaml", "slug: ada\nname: Ada\ntemperature: 9\nmodel: unheard-of\n");
  const companions = await run(["--live", "--junit", dir.file("report.xml")]);
  expect([companions.exitCode, companions.stdout]).toEqual([1, expect.stringMatching(/ada\.yaml:3: temperature/)]);
  expect(read("report.xml")).toMatch(/<testsuite name=".*ada\.yaml" tests="1" failures="0" errors="1"/);
  write("companions/ada.yaml", "slug: ada\nname: Ada\nmodel: unheard-of\n");
  expect((await run(["--live"])).stdout).toMatch(/ada\.yaml:3: model: Must be one of/);
  write("companions/ada.yaml", "slug: eve\nname: Eve\n");
  expect((await run(["--live"])).stdout).toMatch(/shop\.yaml:2: There is no companion with the slug ada/);
  expect((await run(["--live", "--slug", "bob"])).stderr).toContain("no suite of bob");
  expect(mock.requests).toEqual([]);
});

test("a live run stops once --max-cost is spent, and shows a failed provider as an error in words of its own", async () => {
  writeSuite(`${simple("Hi")}${simple("Ho").replace("one", "two")}`);
  const stopped = await run(["--live", "--max-cost", "0.00002"]);
  expect([stopped.exitCode, mock.requests.length]).toEqual([4, 1]);
  expect(stopped.stdout).toContain("As much is spent as --max-cost allows.");
  writeSuite(simple("[[fail:401]]"));
  const failed = await run(["--live", "--json"]);
  expect(failed.json).toMatchObject({ errors: 1, suites: [{ cases: [{ attempts: [{ turns: [{ reply: null }] }] }] }] });
  expect(failed.stdout).toContain("The provider refused the server's key.");
  expect(failed.stdout).not.toContain("SECRET");
});

test("a judge that is refused JSON Schema is asked once more without, and one who says anything else is an error", async () => {
  // The companion says nothing that it does not know; its judge does.
  write("companions/ada.yaml", `${companion}answer_mode: grounded\n`);
  writeSuite(simple("Hi", "[{judge: It is kind., votes: 3}]"));
  const judged = answerJudges('{"pass": false, "reason": "\\u001b[31mIt is not."}');
  const failed = await run(["--live"]);
  expect([failed.exitCode, judged.length]).toEqual([1, 2]);
  // What a model writes moves no one's cursor.
  expect(failed.stdout).toContain("[31mIt is not. (2 of 2 votes)");
  expect(failed.stdout).not.toMatch(/[^\P{Cc}\n]/u);
  mock.respond((request, response) => {
    if ("response_format" in request.body) return response.send(400, {}, '{"error":{"message":"No."}}');
    return createDirectiveResponder(mock.models)(request, response);
  });
  const refused = await run(["--live", "--json"]);
  expect(refused.json).toMatchObject({ errors: 1 });
  expect(refused.stdout).toContain("The judge's answer is not the JSON object that was asked for.");
});

test("without a provider nothing is asked, unless it is the demo that is wanted; recordings are replaced and counted", async () => {
  writeSuite(simple("Hello", "[{contains: demo}]"));
  const none = await run(["--record", dir.file("recordings")], {});
  expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("OPENAI_API_KEY")]);
  expect((await run(["--record", dir.file("recordings"), "--demo"], {})).exitCode).toBe(0);
  const [stale = ""] = readdirSync(dir.file("recordings"));
  writeSuite(simple("Thanks", "[{contains: welcome}]"));
  const again = await run(["--record", dir.file("recordings"), "--demo", "--json"], {});
  expect(again.json.unused_recordings).toEqual([stale]);
  expect((await run(["--replay", dir.file("recordings")], {})).exitCode).toBe(0);
});
