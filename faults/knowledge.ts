/** A source that was read, and a question that it does not answer. */
import { chat } from "../test/support/chat.ts";
import { eventually } from "../test/support/eventually.ts";
import type { Client } from "./client.ts";
import type { World } from "./world.ts";

export async function makeKnowledge(
  world: World,
  client: Client,
  { id, token }: { id: string; token: string },
  question: string,
): Promise<{ source_id: string; question_id: string }> {
  const path = `/api/companions/${id}`;
  const body = { type: "text", title: "Returns", text: "Articles may be returned within thirty days." };
  const source = (await client.send({ method: "POST", path: `${path}/sources`, body })).json.id;
  const read = async (at: string) => (await client.send({ method: "GET", path: `${path}/${at}` })).json;
  await eventually(async () => (await read(`sources/${source}`)).status === "ready", { what: "the source is read" });
  await chat(world.url, token, { message: question });
  const ask = async () => (await read("unanswered")).data[0]?.id;
  await eventually(async () => (await ask()) !== undefined, { what: "the question is listed" });
  return { source_id: source, question_id: (await ask()) ?? "" };
}
