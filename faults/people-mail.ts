/** A mail server that accepts connections and says nothing, beside chats and visitors who ask for a person. */
import { chat } from "../test/support/chat.ts";
import { eventually } from "../test/support/eventually.ts";
import { startSmtpServer } from "../test/support/smtp-server.ts";
import { apiFaults } from "./client.ts";
import { handoffOfRaces, nextAddress } from "./people-talk.ts";
import { type FaultRow, type Form, Tally } from "./row.ts";
import { makeCompanion, makeOwner, openWorld, signIn, type World } from "./world.ts";

const chats: Record<Form, number> = { tiny: 150, short: 3_000, long: 3_000 };
/** Of the chats without it: both servers run at the same time, and a machine is never quite fair. */
const leastShare = 0.8;
const workers = 4;
/** More than are under way at once: a server that waited for its mail would complete none before it gives that up, after half a minute. */
const leastWhileHanging = 2 * workers;
const asks = 20;

export const peopleMailRow: FaultRow = {
  name: "people-mail",
  title: "a mail server that hangs beside chats",
  story:
    "Two servers run side by side with the same load; one of them mails through a server that accepts connections and says " +
    "nothing, while members are invited and visitors ask for people. When the one has completed its chats, the other has completed " +
    "as many, give or take the machine's unfairness.",
  async run({ form }) {
    const tally = new Tally([...apiFaults, "chats without a complete reply", "calls refused"]);
    await using mail = await startSmtpServer({ greetingAfterMs: null });
    const env = {
      COMPANIOND_MAX_MEMBERS_FREE: "100",
      COMPANIOND_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      COMPANIOND_MAIL_FROM: "team@shop.example",
    };
    await using hung = await openWorld({ env });
    await using calm = await openWorld();
    const [beside, without] = await Promise.all([prepare(hung, tally), prepare(calm, tally)]);
    const client = await signIn(hung, tally, beside.email);
    for (let ask = 0; ask < asks; ask++) {
      const invited = { email: `${ask}@shop.example`, name: "Grace", role: "responder" };
      const ids = { session_id: crypto.randomUUID(), visitor_id: crypto.randomUUID() };
      const path = `/api/embed/${beside.token}/person`;
      const answers = [
        await client.send({ method: "POST", path: "/api/members", body: invited }),
        await client.send({ method: "POST", path, body: ids, headers: nextAddress() }),
      ];
      const refused = answers.find(({ status }) => status >= 300);
      if (refused !== undefined) tally.fault("calls refused", `${refused.status} ${refused.text}`);
    }
    await eventually(() => mail.connections > 0, { what: "a mail is tried", withinMs: 30_000 });
    let isOver = false;
    const counts = { beside: 0, without: 0 };
    let whileHanging = 0;
    const work = async (world: World, token: string, name: keyof typeof counts) => {
      while (!isOver) {
        const { isDone, status } = await chat(world.url, token, { message: "hello" });
        if (!isDone) tally.fault("chats without a complete reply", String(status));
        if (!isOver) counts[name]++;
        if (name === "beside" && mail.closed === 0) whileHanging++;
        isOver ||= counts.without >= chats[form] && (form !== "tiny" || counts.beside >= chats.tiny);
      }
    };
    await Promise.all(
      Array.from({ length: workers }, () => [
        work(hung, beside.token, "beside"),
        work(calm, without.token, "without"),
      ]).flat(),
    );
    tally.did("chats without a mail server", counts.without);
    // A busy machine is unfair to a few chats: of these nothing is said of how soon they are completed.
    if (form !== "tiny") {
      const least = Math.floor(leastShare * counts.without);
      tally.atLeast("chats beside the one that hangs", counts.beside, least);
    }
    tally.atLeast("chats before the first mail is given up", whileHanging, leastWhileHanging);
    tally.atLeast("connections to it", mail.connections, 1);
    tally.equal("mails that arrived", mail.mails.length, 0);
    tally.equal("exit code after SIGTERM", await hung.server.stop(), 0);
    return tally.outcome();
  },
};

async function prepare(world: World, tally: Tally) {
  const { client, email } = await makeOwner(world, tally, "mail");
  return { email, ...(await makeCompanion(client, { handoff: handoffOfRaces })) };
}
