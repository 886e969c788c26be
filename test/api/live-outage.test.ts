/** PostgreSQL goes and comes back while visitors listen at two servers: nothing that was acknowledged is missed. */
import { expect, test } from "bun:test";
import { startTestServer } from "../support/app.ts";
import { isOnPostgres } from "../support/engine.ts";
import { eventually } from "../support/eventually.ts";
import { createLiveWorld, type LiveConversation } from "../support/live-world.ts";
import { startPostgresServer } from "../support/postgres-server.ts";
import { providePostgresTemplate } from "../support/postgres-template.ts";

const visitors = 20;

// A process with its own database has nothing that goes.
if (isOnPostgres) {
  test("streams stay open and silent, what is reported is 503, and each goes on where it was", async () => {
    await using postgres = await startPostgresServer();
    const { url } = await postgres.createDatabase(await providePostgresTemplate(postgres));
    const environment = { DATABASE_URL: url };
    const [here, there] = [
      await startTestServer({ environment, isShared: true }),
      await startTestServer({ environment, isShared: true }),
    ];
    const world = await createLiveWorld(here, {}, {}, there.url);
    const conversations: LiveConversation[] = [];
    for (let number = 0; number < visitors; number++) conversations.push(await world.begin());
    for (const conversation of conversations) await conversation.take();
    const streams = await Promise.all(conversations.map((conversation) => conversation.listen()));
    for (const stream of streams) await stream.until(1);

    await postgres.stop("immediate");
    const report = () =>
      fetch(`${there.url}/api/embed/${world.companion.embedToken}/live`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ session_id: crypto.randomUUID(), seen: 1 }),
      });
    await eventually(async () => (await report()).status === 503);
    await postgres.start();
    await eventually(async () => (await report()).status === 404);
    expect(streams.filter(({ isOver }) => isOver)).toEqual([]);

    for (const text of ["a", "b"]) for (const conversation of conversations) await conversation.write(text);
    const texts = () => streams.map(({ frames }) => frames.flatMap(({ data }) => data?.text ?? []).join());
    await eventually(() => texts().every((text) => text.length === 3));
    expect(texts()).toEqual(streams.map(() => "a,b"));
    for (const stream of streams) stream.close();
    await there.close();
    await here.close();
  });
}
