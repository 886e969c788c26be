import { expect, test } from "bun:test";
import { languages } from "../../src/core/knowledge/words/stop-words.ts";
import { handoffTextOf } from "../../src/core/people/texts.ts";
import { handoffSettings } from "../support/people-world.ts";

test("is said in the visitor's language, else in English, unless the owner has written a sentence", () => {
  expect(handoffTextOf(handoffSettings, "waiting", "Ich möchte mit einem Menschen sprechen")).toContain("Moment bitte");
  expect(handoffTextOf(handoffSettings, "unavailable", "12345")).toBe(
    "I am sorry, no one from the team is available at the moment.",
  );
  const own = { ...handoffSettings, personText: "Grace will write to you." };
  expect(handoffTextOf(own, "person", "Ich möchte")).toBe("Grace will write to you.");
});

test("has three sentences of its own in each language", () => {
  expect(languages.length).toBeGreaterThan(20);
  const questions = {
    de: "Wann haben Sie geöffnet und was kostet das?",
    ja: "いつ開いていますか",
    ru: "Когда вы открыты?",
  };
  const said = Object.values(questions).flatMap((question) =>
    (["waiting", "person", "unavailable"] as const).map((kind) => handoffTextOf(handoffSettings, kind, question)),
  );
  expect(new Set(said).size).toBe(9);
});
