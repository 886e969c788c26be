/** The example of a proxy: Caddy (/usr/bin/caddy) in front of a server and a website. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { startTestServer } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { findFreePort } from "../support/free-port.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const examples = join(import.meta.dir, "../../examples");

test("one Caddy serves the website, and passes a reply on piece by piece", async () => {
  using home = temporaryDirectory();
  const server = await startTestServer({ environment: { COMPANIOND_TRUST_PROXY: "1" } });
  const [chat, site] = [`http://127.0.0.1:${findFreePort()}`, `http://127.0.0.1:${findFreePort()}`];
  const caddy = Bun.spawn(["/usr/bin/caddy", "run"], {
    cwd: join(examples, "proxy"),
    env: { HOME: home.path, DOMAIN: chat, SITE: site, SITE_ROOT: "../page", UPSTREAM: new URL(server.url).host },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const isServed = async (url: string) => (await fetch(url).catch(() => null))?.ok === true;
  try {
    await eventually(async () => (await isServed(`${chat}/readyz`)) && (await isServed(site)));
    expect(await (await fetch(site)).text()).toBe(await Bun.file(join(examples, "page/index.html")).text());

    const { embedToken } = await server.createCompanion();
    const rest = Promise.withResolvers<void>();
    server.mockLlm.respond(async (_request, response) => {
      response.write('data: {"choices":[{"delta":{"content":"one"}}]}\n\n');
      await rest.promise;
      response.write('data: {"choices":[{"delta":{"content":"two"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
      response.end();
    });
    const response = await fetch(`${chat}/api/embed/${embedToken}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message: "Count" }),
    });
    const pieces = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    // It is here before the rest is even made.
    expect(await pieces?.read()).toEqual({ done: false, value: 'data: {"text":"one"}\n\n' });
    rest.resolve();
    let text = "";
    for (let next = await pieces?.read(); next?.done === false; next = await pieces?.read()) text += next.value;
    expect(text).toBe('data: {"text":"two"}\n\ndata: [DONE]\n\n');
  } finally {
    caddy.kill("SIGTERM");
    await caddy.exited;
    await server.close();
  }
});
