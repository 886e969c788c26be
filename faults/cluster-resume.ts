/** Visitors who lose their stream and come back at another instance, while the one that replies may be killed. */
import { sendChat } from "../test/support/chat.ts";
import type { Instance } from "../test/support/cluster-instance.ts";
import type { Sent } from "../test/support/cluster-ledger.ts";
import { clusterMessage, clusterReply } from "../test/support/cluster-model.ts";
import { eventually } from "../test/support/eventually.ts";
import {
  follow,
  type NamedMessage,
  newMessage,
  type ReadStream,
  readAll,
  readUntil,
} from "../test/support/resumed-chat.ts";
import type { ClusterCase, ClusterSituation } from "./cluster-case.ts";

const rounds = { tiny: 2, short: 20, long: 100 };
const lost = "characters lost or doubled in transit";
const unclear = "streams of a killed instance with another end";
const stuck = "messages of a killed instance that could not be repeated";

export const resumeCase: ClusterCase = {
  name: "cluster-resume",
  title: "lost streams, resumed at another instance",
  story:
    "A visitor loses the stream of a reply and comes back at another instance, which has every character once. In every " +
    "second round the instance that replies is killed meanwhile: then the stream says so, and the same message, sent to the " +
    "other instance, gets a new reply and counts once.",
  never: [lost, unclear, stuck],
  async run(situation) {
    const { cluster, context, tally } = situation;
    cluster.model.wordMs = 20;
    for (let round = 0; round < rounds[context.form]; round++) {
      const running = cluster.all[round % 3] as Instance;
      const other = cluster.all[(round + 1) % 3] as Instance;
      await loseOne({ ...situation, running, other, isKilled: round % 2 === 1 });
      tally.did("lost streams");
    }
  },
};

interface Loss extends ClusterSituation {
  running: Instance;
  other: Instance;
  isKilled: boolean;
}

async function loseOne(loss: Loss): Promise<void> {
  const { ledger, tally, running, other, isKilled, context } = loss;
  const { token } = ledger.companion;
  const headers = {
    "content-type": "application/json",
    "x-forwarded-for": `198.18.${context.random.below(256)}.${context.random.below(256)}`,
  };
  const message = newMessage();
  message.message = clusterMessage(message.session_id, 0);
  const sent: Sent = {
    text: message.message,
    sessionId: message.session_id,
    fate: "cut",
    status: 200,
    code: null,
    reply: "",
  };
  ledger.sent.push(sent);

  const first = await readUntil(await sendChat(running.url, token, message, { headers }), ({ text }) => text !== "");
  const rest = await follow(other.url, token, message, first.text.length, { headers });
  if (!isKilled) {
    note(sent, await readAll(rest), first.text);
    if (sent.reply !== clusterReply(sent.text)) tally.fault(lost, `${sent.text}: ${sent.reply}`);
    return;
  }
  const reading = readAll(rest);
  await running.kill();
  tally.did("kills");
  const { isDone, comments } = await reading;
  if (isDone || comments.at(-1) !== "error unavailable") tally.fault(unclear, `${isDone} ${comments.at(-1)}`);
  await repeat(loss, message, headers, sent);
  await running.start();
}

/** As soon as the others know that it was killed. */
async function repeat(
  { ledger, other, tally }: Loss,
  message: NamedMessage,
  headers: Record<string, string>,
  sent: Sent,
): Promise<void> {
  let response = await sendChat(other.url, ledger.companion.token, message, { headers });
  const isTaken = async () => {
    if (response.status !== 503) return true;
    response = await sendChat(other.url, ledger.companion.token, message, { headers });
    return false;
  };
  await eventually(isTaken, { withinMs: 10_000, everyMs: 200 }).catch(() => {});
  sent.status = response.status;
  if (response.ok) note(sent, await readAll(response), "");
  if (sent.reply !== clusterReply(sent.text)) tally.fault(stuck, `${sent.text}: ${sent.status}, ${sent.reply}`);
}

function note(sent: Sent, { text, isDone }: ReadStream, before: string): void {
  sent.reply = before + text;
  sent.fate = isDone ? "done" : "cut";
}
