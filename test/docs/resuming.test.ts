/** The page for those who write their own client: its client and its curl session, run as they stand. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { codeBlocks } from "../support/code-blocks.ts";
import { eventually } from "../support/eventually.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { temporaryDirectory } from "../support/temporary.ts";

interface Question {
  message: string;
  message_id: string;
  session_id: string;
  visitor_id: string;
}
interface Client {
  ask(base: string, question: Question, show: (reply: string) => void, options: object): Promise<string | null>;
  replyUrl(base: string, question: Question): string;
}

const text = await Bun.file("docs/resuming.md").text();
const [source = ""] = codeBlocks(text, "js");
using directory = temporaryDirectory();
await Bun.write(directory.file("client.mjs"), source);
const client: Client = await import(directory.file("client.mjs"));

let server: TestServer;
let proxy: FaultProxy;
let token: string;
beforeAll(async () => {
  server = await startTestServer();
  proxy = await startFaultProxy(Number(new URL(server.url).port));
  ({ embedToken: token } = await server.createCompanion());
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await server.close();
});
afterEach(() => server.mockLlm.respond(null));

/** The model says one piece after the other, each when the test lets it. */
function tell(pieces: readonly string[]) {
  const gates = pieces.map(() => Promise.withResolvers<void>());
  const requestsBefore = server.mockLlm.requests.length;
  let told = 0;
  server.mockLlm.respond(async (_request, response) => {
    for (const [index, piece] of pieces.entries()) {
      await gates[index]?.promise;
      await response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: piece } }] })}\n\n`);
    }
    await response.write('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    response.end();
  });
  return {
    next: () => gates[told++]?.resolve(),
    countRequests: () => server.mockLlm.requests.length - requestsBefore,
  };
}

function makeQuestion(): Question {
  const [message_id, session_id, visitor_id] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  return { message: "Tell me a story", message_id, session_id, visitor_id };
}

function startAsking() {
  const base = `http://127.0.0.1:${proxy.port}/api/embed/${token}`;
  const question = makeQuestion();
  const shown: string[] = [];
  const waitsMs = Array.from({ length: 200 }, () => 5);
  const ended = client.ask(base, question, (reply) => shown.push(reply), { waitsMs });
  return { base, question, shown, ended };
}

test("the client has as many lines as one reads at a sitting", () => {
  expect(source.trim().split("\n").length).toBeLessThanOrEqual(60);
});

test("the client shows each character once, however often the line is cut", async () => {
  const pieces = ["Once upon 🚲", " a time", " there was"];
  const story = tell([...pieces]);
  const { shown, ended } = startAsking();
  for (const index of pieces.keys()) {
    story.next();
    await eventually(() => shown.at(-1) === pieces.slice(0, index + 1).join(""));
    if (index < 2) proxy.cut();
  }
  expect(await ended).toBeNull();
  expect(shown).toEqual(pieces.map((_, index) => pieces.slice(0, index + 1).join("")));
  expect(story.countRequests()).toBe(1);
});

test("the client asks once, where the first answer never arrives", async () => {
  const story = tell(["All of it."]);
  const { shown, ended } = startAsking();
  await eventually(() => server.mockLlm.openRequests === 1);
  proxy.cut();
  story.next();
  expect(await ended).toBeNull();
  expect(shown).toEqual(["All of it."]);
  expect(story.countRequests()).toBe(1);
});

test("the client tells that a reply was stopped, and keeps its text", async () => {
  const story = tell(["Once upon", " a time"]);
  const { base, question, shown, ended } = startAsking();
  story.next();
  await eventually(() => shown.length === 1);
  const stopped = await fetch(client.replyUrl(base, question), { method: "DELETE" });
  expect(stopped.status).toBe(204);
  expect(await ended).toBe("cancelled");
  expect(shown).toEqual(["Once upon"]);
});

test("the client comes back once to a reply that was taken from it, and is told that it has ended", async () => {
  const story = tell(["Once upon", " a time"]);
  const { base, question, shown, ended } = startAsking();
  story.next();
  await eventually(() => shown.length === 1);
  server.services.replies.stopAll();
  expect(await ended).toBe("unavailable");
  expect(shown).toEqual(["Once upon"]);
  expect(await client.ask(base, question, () => {}, { waitsMs: [5] })).toBe("unavailable");
  expect(story.countRequests()).toBe(1);
});

test("the client passes on why a message is refused", async () => {
  const base = `${server.url}/api/embed/${token}`;
  const asked = client.ask(base, { ...makeQuestion(), session_id: "?" }, () => {}, {});
  await expect(asked).rejects.toMatchObject({ code: "invalid_request", status: 400 });
});

test("the curl session answers what the page says", async () => {
  const story = tell(["Once upon a time", " there was a bicycle."]);
  const own = text.replaceAll("https://chat.example.com", `http://127.0.0.1:${proxy.port}`).replaceAll("emb_…", token);
  const commands = codeBlocks(own, "sh");
  const answers = codeBlocks(text, "text");
  expect(commands.length).toBe(answers.length);
  let variables = "";
  for (const [index, command] of commands.entries()) {
    story.next();
    // The line is cut where the page says so, however slow the machine is.
    const patient = command.replace("--max-time 1 ", "--max-time 20 ");
    const script = `${variables}${patient}`;
    variables += command.match(/^[A-Z]+=.*\n/gm)?.join("") ?? "";
    const run = Bun.spawn(["bash", "-c", script], { stdout: "pipe", stderr: "ignore" });
    let said = "";
    for await (const part of run.stdout.pipeThrough(new TextDecoderStream())) {
      said += part;
      if (patient !== command && said === answers[index]) proxy.cut();
    }
    expect(said).toBe(answers[index] ?? "");
  }
  expect(story.countRequests()).toBe(1);
});
