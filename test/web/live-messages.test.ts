/** What is told of a conversation, added to what a browser has of it. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { LiveMessage } from "../../src/web/sdk/live.ts";

interface Message {
  id: string;
  role: "user" | "assistant";
  text: string;
  at: number;
  state: string;
  isOpen?: boolean;
}
/** Not by its name: the browser's own types are none of a test's. */
const file = join(import.meta.dir, "../../src/web/widget/live-messages.ts");
const addLive: (kept: Message[], drawn: Message[], told: LiveMessage) => Message[] = (await import(file)).addLive;

const asked: Message = { id: "q", role: "user", text: "How long?", at: 1, state: "done" };
const reply = (fields: Partial<Message>): Message => {
  return { id: "r", role: "assistant", text: "It takes", at: 2, state: "incomplete", isOpen: true, ...fields };
};
const told = (seq: number, type: LiveMessage["author"]["type"], text: string): LiveMessage => {
  const message_id = type === "person" ? "p" : "r";
  return { seq, author: { type, name: null }, text, message_id, created_at: "2026-11-27T12:00:00Z" };
};

test("a reply that could not be read to its end has the rest as it is told", () => {
  const kept = addLive([asked, reply({})], [], told(2, "companion", "It takes three days."));
  expect(kept[1]).toMatchObject({ text: "It takes three days.", state: "done", isOpen: undefined, seq: 2 });
});

test("a reply under way is gone on with by its own stream, and has the rest only once that has failed", () => {
  const streaming = reply({ state: "streaming" });
  const kept = addLive([asked, streaming], [streaming], told(2, "companion", "It takes three days."));
  expect(streaming).toMatchObject({ text: "It takes", state: "streaming" });
  streaming.state = "incomplete";
  addLive(kept, [streaming], told(3, "person", "Two, in fact."));
  expect(streaming).toMatchObject({ text: "It takes three days.", state: "done" });
});

test("a reply that the visitor stopped, or that says something else, stays as it was read", () => {
  const [stopped, other] = [reply({ state: "stopped" }), reply({})];
  addLive([asked, stopped], [], told(2, "companion", "It takes three days."));
  addLive([asked, other], [], told(2, "companion", "Three days."));
  expect([stopped, other]).toMatchObject([
    { text: "It takes", state: "stopped" },
    { text: "It takes", state: "incomplete" },
  ]);
});
