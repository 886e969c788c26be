/** Firefox by WebDriver BiDi (w3.org/TR/webdriver-bidi), which it speaks itself on a port of loopback. */
import { inTime } from "../eventually.ts";
import { quickDirectory } from "../temporary.ts";
import type { BrowserPage } from "./browser-page.ts";

interface Reply {
  id: number;
  type: "success" | "error";
  result: Record<string, unknown>;
  message: string;
}

export async function openFirefox(): Promise<BrowserPage> {
  await using started = new AsyncDisposableStack();
  const profile = started.use(quickDirectory());
  const browser = Bun.spawn(
    ["/usr/bin/firefox-esr", "--headless", "--no-remote", "--profile", profile.path, "--remote-debugging-port", "0"],
    { stdout: "ignore", stderr: "pipe" },
  );
  started.defer(async () => {
    browser.kill("SIGKILL");
    await browser.exited;
  });
  const address = await inTime(readAddress(browser.stderr), { what: "Firefox's port" });
  const socket = new WebSocket(`${address}/session`);
  started.defer(() => socket.close());
  const opened = Promise.withResolvers<unknown>();
  socket.onopen = opened.resolve;
  socket.onerror = opened.reject;
  await inTime(opened.promise, { what: "Firefox's socket" });
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  socket.onmessage = ({ data }) => {
    const { id, type, result, message }: Reply = JSON.parse(String(data));
    const asked = waiting.get(id);
    waiting.delete(id);
    if (type === "error") asked?.reject(new Error(message));
    else asked?.resolve(result);
  };
  let last = 0;
  const call = (method: string, params: object) => {
    const asked = Promise.withResolvers<Record<string, unknown>>();
    waiting.set(++last, asked);
    socket.send(JSON.stringify({ id: last, method, params }));
    return inTime(asked.promise, { what: `Firefox to answer ${method}` });
  };
  await call("session.new", { capabilities: {} });
  const { contexts } = (await call("browsingContext.getTree", {})) as { contexts: { context: string }[] };
  const context = contexts[0]?.context;
  const all = started.move();
  return {
    async open(url) {
      await call("browsingContext.navigate", { context, url, wait: "complete" });
    },
    async run(body) {
      const expression = `(async () => JSON.stringify((await (async () => {${body}})()) ?? null))()`;
      const sent = { target: { context }, awaitPromise: true, expression };
      const { type, result, exceptionDetails } = (await call("script.evaluate", sent)) as {
        type: string;
        result: { value: string };
        exceptionDetails?: { text: string };
      };
      if (type === "exception") throw new Error(exceptionDetails?.text);
      return JSON.parse(result.value);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Reads on until it ends: a full pipe would stop the browser. */
async function readAddress(stream: ReadableStream<Uint8Array>): Promise<string> {
  const found = Promise.withResolvers<string>();
  void (async () => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const part of stream) {
      text = (text + decoder.decode(part, { stream: true })).slice(-4000);
      const address = /WebDriver BiDi listening on (ws:\S+)/.exec(text)?.[1];
      if (address !== undefined) found.resolve(address);
    }
    found.reject(new Error(`Firefox ended: ${text}`));
  })();
  return await found.promise;
}
