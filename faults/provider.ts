/**
 * A language-model provider with every kind of trouble: 502 before the first text, no [DONE] after it, and no details
 * leak.
 */
import { type ChatResponse, chat } from "../test/support/chat.ts";
import type { MockRequest, MockResponse } from "../test/support/mock-llm.ts";
import { chunk, errorBody, wholeStream } from "../test/support/mock-llm-replies.ts";
import { apiFaults } from "./client.ts";
import { type FaultRow, type Random, Tally } from "./row.ts";
import { inParallel, listAll, makeCompanion, makeOwner, openWorld } from "./world.ts";

const times = { tiny: 2, short: 40, long: 40 };
const said = "Grüße, 你好, 👩‍👩‍👧 and so on";
const words = [said, " ", said];
const secret = "sk-live-SECRET-of-the-provider";

/**
 * The expected result: a reply, a 502 with nothing stored, or a reply that broke off and is stored as such. One of the
 * last two if the network may lose the text before the trouble.
 */
type Ending = "whole" | "refused" | "broken" | "refused or broken";

interface Trouble {
  what: string;
  ending: Ending;
  respond(response: MockResponse, random: Random): void | Promise<void>;
}

const beforeFirst = (what: string, respond: Trouble["respond"]): Trouble => ({ what, ending: "refused", respond });
const midway = (
  what: string,
  respond: (response: MockResponse) => void | Promise<void>,
  ending: Ending = "broken",
): Trouble => ({
  what,
  ending,
  async respond(response) {
    await response.write(chunk({ content: said }));
    await respond(response);
  },
});

/** The provider counts it, and so it is one of the day's messages although nothing is kept. */
const countedWithoutText = "no text at all";

const troubles: Trouble[] = [
  ...[400, 401, 403, 404, 418, 429, 500, 503].map((status) =>
    beforeFirst(`status ${status}`, (response) =>
      response.send(
        status,
        { "Content-Type": "application/json" },
        errorBody(status).replace("}", `,"x":"${secret}"}`),
      ),
    ),
  ),
  beforeFirst("cut immediately", (response) => response.cut()),
  beforeFirst("reset immediately", (response) => response.reset()),
  beforeFirst("bytes that are not HTTP", (response) => {
    response.writeRaw(`\x16\x03\x01${secret}\r\n\r\n`);
    response.cut();
  }),
  beforeFirst("a page of HTML", (response) => response.send(200, { "Content-Type": "text/html" }, `<p>${secret}`)),
  beforeFirst("an event that is not JSON", async (response) => {
    await response.write(`data: {${secret}\n\n`);
    response.end();
  }),
  beforeFirst(countedWithoutText, async (response) => {
    for (const event of wholeStream([])) await response.write(event);
    response.end();
  }),
  beforeFirst("an error in the stream", async (response) => {
    await response.write(`data: {"error":{"message":"${secret}"}}\n\n`);
    response.end();
  }),
  midway("cut midway", (response) => response.cut()),
  midway("reset midway", (response) => response.reset(), "refused or broken"),
  midway("ended midway", (response) => response.end()),
  midway("malformed bytes midway", async (response) => {
    await response.write(`data: {${secret}\n\n`);
    response.end();
  }),
  midway("an error midway", async (response) => {
    await response.write(`data: {"error":{"message":"${secret}"}}\n\n`);
    response.end();
  }),
  midway("bytes outside of the chunked coding", (response) => {
    response.writeRaw(`zz\r\n${secret}`);
    response.cut();
  }),
  {
    what: "dribbled byte by byte",
    ending: "whole",
    async respond(response) {
      for (const byte of Buffer.from(wholeStream(words).join(""))) await response.write(Uint8Array.of(byte));
      response.end();
    },
  },
  {
    what: "torn at random places",
    ending: "whole",
    async respond(response, random) {
      let bytes = Buffer.from(wholeStream(words).join(""));
      while (bytes.length > 0) {
        const size = 1 + random.below(40);
        await response.write(bytes.subarray(0, size));
        bytes = bytes.subarray(size);
      }
      response.end();
    },
  },
];

/** No response until a deadline ends the wait. */
const silent: Trouble = beforeFirst("silent", (response) => response.closed);
const silentMidway: Trouble = midway("silent midway", (response) => response.closed);

export const providerRow: FaultRow = {
  name: "provider",
  title: "a provider that is cut off, silent, malformed, dribbling or refusing",
  story:
    "The language model's provider refuses, breaks off, sends nonsense, dribbles or falls silent, before its " +
    "first word and after it. Before it, the visitor must get a 502 and nothing is stored; after it, the stream" +
    " must end without `[DONE]` and the text so far is stored as incomplete. None of the provider's own words " +
    "may leak.",
  async run(context) {
    const tally = new Tally([
      ...apiFaults,
      "replies that do not match the provider's failure",
      "replies stored wrongly",
      "words of the provider's failure leaked",
      "secrets in the log",
    ]);
    await using world = await openWorld();
    const owner = await makeOwner(world, tally, "provider");
    const companion = await makeCompanion(owner.client);
    world.mock.respond((request, response) => respondAs(request, response, context.random));

    const count = times[context.form];
    const each = [...troubles, ...(context.form === "tiny" ? [] : [silent, silentMidway])];
    // One conversation per message, so that the stored messages can be matched.
    const kept = new Map<string, { what: string; ending: Ending | null }>();
    const send = async (trouble: Trouble) => {
      const sessionId = crypto.randomUUID();
      const response = await chat(world.url, companion.token, { message: trouble.what, session_id: sessionId });
      tally.did(`chats: ${trouble.what}`);
      const ending = endingOf(trouble, response);
      if (ending === null || !trouble.ending.includes(ending)) {
        const shown = `${trouble.what}: ${response.status} ${response.raw}`;
        tally.fault("replies that do not match the provider's failure", shown);
      }
      if (/SECRET/.test(response.raw)) tally.fault("words of the provider's failure leaked", response.raw);
      kept.set(sessionId, { what: trouble.what, ending });
    };
    const repeated = each.flatMap((trouble) => Array.from({ length: count }, () => trouble));
    const waiting = repeated.filter((trouble) => trouble === silent || trouble === silentMidway);
    const rest = repeated.filter((trouble) => !waiting.includes(trouble));
    await Promise.all([inParallel(waiting, waiting.length, send), inParallel(rest, 32, send)]);
    await world.mock.until(() => world.mock.openRequests === 0);

    const conversations = await listAll(owner.client, `/api/companions/${companion.id}/conversations`);
    for (const { session_id, id } of conversations) {
      const turn = kept.get(String(session_id));
      kept.delete(String(session_id));
      const { json } = await owner.client.send({ method: "GET", path: `/api/conversations/${id}` });
      const reply = (json.messages as { complete: boolean; text: string }[])[1];
      if (turn?.ending === "refused" || reply?.complete !== (turn?.ending === "whole")) {
        tally.fault("replies stored wrongly", `${turn?.what}: ${JSON.stringify(reply)}`);
      }
    }
    for (const { what, ending } of kept.values()) {
      if (ending !== "refused") tally.fault("replies stored wrongly", `${what}: not kept`);
    }
    const quota = await owner.client.send({ method: "GET", path: `/api/companions/${companion.id}/quota` });
    const expected = conversations.length + rest.filter(({ what }) => what === countedWithoutText).length;
    tally.equal(
      "messages of the day's quota used, as many as are kept or were counted",
      Number(quota.json.used),
      expected,
    );
    world.mock.respond(null);
    const after = await chat(world.url, companion.token, { message: "Well again?" });
    tally.equal("chats that work afterwards", after.isDone ? 1 : 0, 1);
    for (const word of ["sk-of-the-operator", secret]) {
      if (world.server.stdout.includes(word)) tally.fault("secrets in the log", word);
    }
    return tally.outcome();
  },
};

function respondAs(request: MockRequest, response: MockResponse, random: Random): void | Promise<void> {
  const trouble = [...troubles, silent, silentMidway].find(({ what }) => what === request.userText);
  if (trouble === undefined) throw new Error(`a message that nobody sent: ${request.userText}`);
  return trouble.respond(response, random);
}

function endingOf({ what }: Trouble, response: ChatResponse): Ending | null {
  if (response.isDone) return response.text === words.join("") ? "whole" : null;
  // Ten seconds of silence open the stream; later failures can no longer be a 502.
  const isOpened = response.status === 200 && response.raw.includes(": error upstream_error");
  if (isOpened && response.text === said) return "broken";
  if (isOpened && response.text === "" && what === silent.what) return "refused";
  return response.status === 502 && response.raw.includes('"upstream_error"') ? "refused" : null;
}
