/** Calls that ask for as much work as their limits allow: meanwhile everyone else gets their turn. */
import { chat } from "../test/support/chat.ts";
import { chunk } from "../test/support/mock-llm-replies.ts";
import { apiFaults, type Call, type Client } from "./client.ts";
import { createLoopWatch } from "./held-loop.ts";
import { read, sendSource, textUnits, useMany } from "./large-calls.ts";
import { type FaultRow, type Form, Tally } from "./row.ts";
import { makeCompanion, makeOwner, openWorld, type World } from "./world.ts";

/** The longest that a call may keep others waiting. Not looked at in the test suite, beside other tests. */
const maxHeldMs = 50;
/** Companions with prompts of 64 KB: of 130, a page has 8 MiB. */
const prompts: Record<Form, number> = { tiny: 4, short: 140, long: 140 };
const labels: Record<Form, number> = { tiny: 4, short: 400, long: 1_600 };
const lines: Record<Form, number> = { tiny: 10, short: 250, long: 1_000 };
/** Companions with usage: nearly as many as an answer without pages may have. */
const used: Record<Form, number> = { tiny: 1_200, short: 49_000, long: 49_000 };
/** Of a source: nearly as many as it may have. */
const sourceBytes: Record<Form, number> = { tiny: 1_500_000, short: 19_000_000, long: 19_000_000 };
/** Replies of a conversation, of nearly 1 MiB each. */
const replies: Record<Form, number> = { tiny: 2, short: 30, long: 30 };
/** Of the same call: the longest of them counts. */
const times: Record<Form, number> = { tiny: 1, short: 3, long: 5 };
/** Rows of the index for one companion, in 16 KiB. */
const leaves = 1_900;

export const heavyCallsRow: FaultRow = {
  name: "heavy-calls",
  title: "calls that ask for all the work that they may",
  story:
    `One key sends batches whose lines have ${leaves} values of metadata each, asks for sums, groupings, budgets and ` +
    "exports of usage that was recorded under hundreds of large labels, and for all usage of 49 000 companions together; it reads " +
    "pages of 8 MiB at the same time, and sends sources of 19 MB; a visitor has a conversation of 30 MiB. What counts is " +
    "the processor time that the server's one thread takes in a turn of its event loop, for which a small request would " +
    `have to wait: at most ${maxHeldMs} ms, other programs' share not included.`,
  async run({ form, say }) {
    const tally = new Tally([...apiFaults, "calls refused"]);
    using watch = createLoopWatch();
    await using world = await openWorld({ env: watch.env });
    const { client, accountId } = await makeOwner(world, tally, "heavy");
    const { id, token } = await makeCompanion(client, { context_tokens: 200_000 });
    await label(world, client, { id, token }, labels[form]);
    tally.did("labels of usage", labels[form]);
    say("labels are made");
    let made = 0;
    const hold = async (what: string, repeats: number, begin: () => Promise<unknown>) => {
      const heldMs = await watch.measureHold(world.server, async () => {
        for (let time = 0; time < repeats; time++) await begin();
      });
      tally.did(`calls: ${what}`, repeats);
      if (form !== "tiny") tally.atMost(`ms held by ${what}`, Math.round(heldMs), maxHeldMs);
      say(`${what}: ${heldMs.toFixed(1)} ms`);
    };
    const send = async (call: Call) => {
      const response = await client.send(call);
      if (response.status >= 300) tally.fault("calls refused", `${call.method} ${call.path}: ${response.text}`);
      return response;
    };
    const get = (path: string) => send({ method: "GET", path });

    await hold("batches", times[form], () => {
      const body = Array.from({ length: lines[form] }, () => JSON.stringify({ name: "Ada", metadata: heavy(made++) }));
      const headers = { "content-type": "application/x-ndjson" };
      return send({ method: "POST", path: "/api/companions/batch", body: body.join("\n"), headers });
    });
    await hold("one companion, made, changed and deleted", times[form], async () => {
      const body = { name: "Ada", metadata: heavy(made++) };
      const path = `/api/companions/${(await send({ method: "POST", path: "/api/companions", body })).json.id}`;
      await send({ method: "PATCH", path, body: { metadata: heavy(made++) } });
      await send({ method: "DELETE", path });
    });
    await hold("filters by metadata", times[form], () => get(`/api/companions?${filters()}&limit=1000`));
    await hold("budgets by metadata", times[form], () => {
      const body = { metadata: { all: "all" }, limit_micros: 1_000_000, period: "month", action: "notify" };
      return send({ method: "POST", path: "/api/budgets", body });
    });
    await hold("usage by a field", times[form], () => get("/api/usage?group_by=day,metadata.all"));
    await hold("usage by a field, in pages", times[form], () =>
      get("/api/usage?group_by=companion,metadata.k1&limit=10"),
    );
    await hold("usage of a field", times[form], () => get(`/api/usage?${filters()}`));
    await hold("usage of a companion by a field", times[form], () =>
      get(`/api/usage?companion_id=${id}&metadata.all=all&group_by=metadata.k1`),
    );
    await hold("events of usage", times[form], () => get("/api/usage/events?include=today"));
    for (let at = 0; at < prompts[form]; at++) await makeCompanion(client, { system_prompt: "é".repeat(32_000) });
    await hold("ten pages of 8 MiB at the same time", times[form], () =>
      Promise.all(Array.from({ length: 10 }, () => read(client, "/api/companions?limit=1000", "gzip"))),
    );
    for (const [name, unit] of Object.entries(textUnits)) {
      for (const kind of ["text", "file"]) {
        await hold(`a ${kind} of ${name}`, times[form], () =>
          sendSource(client, id, unit, sourceBytes[form], kind === "file"),
        );
      }
    }
    useMany(world, accountId, used[form]);
    for (const encoding of ["identity", "gzip"]) {
      await hold(`usage of all companions, ${encoding}`, times[form], () =>
        read(client, "/api/usage?group_by=companion", encoding),
      );
    }
    await converse(world, token, replies[form]);
    await hold("a long conversation", times[form], async () => {
      const { isDone, status, raw } = await chat(world.url, token, { message: "short", session_id: session });
      if (!isDone) tally.fault("calls refused", `${status} ${raw.slice(0, 200)}`);
    });
    return tally.outcome();
  },
};

/** As many values as fit. */
function heavy(number: number): Record<string, unknown> {
  const values = Array.from({ length: leaves }, (_, index) => (number * leaves + index).toString(36));
  return { all: "all", k1: `v${number}`, v: values };
}

const filters = () => `metadata.all=all&metadata.k1=v1`;

/** Each message is recorded under metadata of its own. */
async function label(
  { url, mock }: World,
  client: Client,
  { id, token }: { id: string; token: string },
  count: number,
): Promise<void> {
  mock.respond(async (_, response) => {
    await response.write(`${chunk({ content: "hello" })}${chunk({ finishReason: "stop" })}data: [DONE]\n\n`);
    response.end();
  });
  for (let number = 0; number < count; number++) {
    const body = { metadata: heavy(number) };
    await client.send({ method: "PATCH", path: `/api/companions/${id}`, body });
    await chat(url, token, { message: "hello" });
  }
}

const session = "0c2a4a53-6d4e-4a68-a5c5-5b7d2a6f9f10";

/** A conversation of that many long replies. */
async function converse({ url, mock }: World, token: string, count: number): Promise<void> {
  mock.respond(async ({ userText }, response) => {
    if (userText === "long")
      for (let part = 0; part < 100; part++) await response.write(chunk({ content: "é".repeat(5_000) }));
    await response.write(`${chunk({ content: "hello" })}${chunk({ finishReason: "stop" })}data: [DONE]\n\n`);
    response.end();
  });
  for (let reply = 0; reply < count; reply++) await chat(url, token, { message: "long", session_id: session });
}
