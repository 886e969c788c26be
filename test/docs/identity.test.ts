/** The page about verified visitors: its requests and its snippet for Node.js, run as they stand. */
import { expect, test } from "bun:test";
import { languages, pageSnippet, secretVariable } from "../../src/web/dashboard/visitor-keys/snippets.ts";
import { startTestServer } from "../support/app.ts";
import { codeBlocks } from "../support/code-blocks.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const text = await Bun.file("docs/identity.md").text();

test("the snippets of the page are those of the dashboard", () => {
  expect(languages.length).toBeGreaterThan(4);
  for (const { name, snippet } of languages) {
    const [, section = ""] = text.split(`### ${name}\n`);
    expect(section).toContain(`\n${snippet({ companionId: "COMPANION_ID", keyId: "KEY_ID" }).trim()}\n\`\`\``);
  }
  expect(text).toContain(pageSnippet("https://chat.example.com", "emb_…"));
});

test("every request of the page works, with a token that its snippet signs", async () => {
  const server = await startTestServer();
  try {
    const account = await server.createAccount();
    const { key } = await server.createKey(account);
    const { id, embedToken } = await server.createCompanion({}, account);
    const sessionId = crypto.randomUUID();
    const visitorId = crypto.randomUUID();
    const environment: Record<string, string> = {
      BASE_URL: server.url,
      COMPANIOND_KEY: key,
      ID: id,
      TOKEN: embedToken,
      SESSION_ID: sessionId,
      VISITOR_ID: visitorId,
    };
    const run = async (...commands: string[]) => {
      const strict = 'set -eu\ncurl() { command curl --fail-with-body --max-time 20 "$@"; }\n';
      const child = Bun.spawn(["bash", "-c", strict + commands.join("\n")], {
        env: { ...process.env, ...environment },
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      expect({ exitCode: await child.exited, stdout, stderr }).toMatchObject({ exitCode: 0 });
      return stdout;
    };
    const [makeKey = "", letAsk = "", readOwn = "", merge = "", erase = "", ...rest] = codeBlocks(text, "sh");
    expect(rest).toEqual([]);

    const made = JSON.parse(await run(makeKey));
    expect(JSON.parse(await run(letAsk))).toMatchObject({ visitor_auth: "optional" });
    environment["VISITOR_TOKEN"] = await signWithSnippet(id, made);

    // An anonymous visitor says something, then signs in.
    const chat = await fetch(`${server.url}/api/embed/${embedToken}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message: "Hello", session_id: sessionId, visitor_id: visitorId }),
    });
    expect(await chat.text()).toEndWith("data: [DONE]\n\n");
    await run(merge);

    const listed = JSON.parse(await run(readOwn.split("\n")[0] ?? ""));
    expect(listed.data).toMatchObject([{ session_id: sessionId }]);
    environment["CONVERSATION_ID"] = listed.data[0].id;
    expect(await run(readOwn)).toContain("You said: Hello");

    await run(erase);
    expect(JSON.parse(await run(readOwn.split("\n")[0] ?? "")).data).toEqual([]);
  } finally {
    await server.close();
  }
});

/** As a website's server does, with the snippet for Node.js as it stands on the page. */
async function signWithSnippet(companionId: string, { id, secret }: { id: string; secret: string }): Promise<string> {
  const [, section = ""] = text.split("### Node.js\n");
  const [snippet = ""] = codeBlocks(section, "js");
  using directory = temporaryDirectory();
  const call = 'process.stdout.write(signVisitorToken({ id: 42, name: "Ada", email: "ada@shop.example" }));';
  await Bun.write(
    directory.file("sign.mjs"),
    `${snippet.replace("COMPANION_ID", companionId).replace("KEY_ID", id)}\n${call}`,
  );
  const child = Bun.spawn([process.execPath, directory.file("sign.mjs")], {
    env: { ...process.env, [secretVariable]: secret },
    stdout: "pipe",
  });
  return await child.stdout.text();
}
