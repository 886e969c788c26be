/** The page about verified visitors: its snippets. Its shell lines are run by `shell.test.ts`, the snippets by `visitor-snippets`. */
import { expect, test } from "bun:test";
import { languages, pageSnippet } from "../../src/web/dashboard/visitor-keys/snippets.ts";

const text = await Bun.file("docs/identity.md").text();

test("the snippets of the page are those of the dashboard", () => {
  expect(languages.length).toBeGreaterThan(4);
  for (const { name, snippet } of languages) {
    const [, section = ""] = text.split(`### ${name}\n`);
    expect(section).toContain(`\n${snippet({ companionId: "COMPANION_ID", keyId: "KEY_ID" }).trim()}\n\`\`\``);
  }
  expect(text).toContain(pageSnippet("https://chat.example.com", "emb_…"));
});
