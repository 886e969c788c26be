/** WebKitGTK's MiniBrowser by WebDriver (w3.org/TR/webdriver2), on a display of its own that no one sees. */
import { readdirSync } from "node:fs";
import { eventually, inTime } from "../eventually.ts";
import { findFreePort } from "../free-port.ts";
import type { BrowserPage } from "./browser-page.ts";

export async function openWebKit(): Promise<BrowserPage> {
  const display = Bun.spawn(["/usr/bin/Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"], {
    stdout: "pipe",
    stderr: "ignore",
  });
  const end = (child: Bun.Subprocess) => async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  await using started = new AsyncDisposableStack();
  started.defer(end(display));
  const number = await inTime(readLine(display.stdout), { what: "Xvfb's display" });
  const port = await findFreePort();
  const driver = Bun.spawn(["/usr/bin/WebKitWebDriver", `--port=${port}`], {
    // Its sandbox needs rights that containers lack.
    env: { ...process.env, DISPLAY: `:${number}`, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" },
    stdout: "ignore",
    stderr: "ignore",
  });
  started.defer(end(driver));
  const base = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${base}/status`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(isReady, { what: "WebKitWebDriver to listen", everyMs: 50 });

  async function call<Value>(method: string, path: string, body?: object): Promise<Value> {
    const sent = fetch(base + path, { method, ...(body && { body: JSON.stringify(body) }) });
    const response = await inTime(sent, { what: `WebKit to answer ${method} ${path}` });
    const { value } = (await response.json()) as { value: Value };
    if (!response.ok) throw new Error(JSON.stringify(value).slice(0, 500));
    return value;
  }
  const libraries = `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`;
  const [version = ""] = readdirSync(libraries).filter((name) => name.startsWith("webkit2gtk-4."));
  const options = { binary: `${libraries}/${version}/MiniBrowser`, args: ["--automation"] };
  const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": options } };
  const { sessionId } = await call<{ sessionId: string }>("POST", "/session", { capabilities });
  const session = `/session/${sessionId}`;
  started.defer(async () => void (await call("DELETE", session).catch(() => {})));
  const all = started.move();
  return {
    open: (url) => call("POST", `${session}/url`, { url }),
    run: (body) => call("POST", `${session}/execute/sync`, { script: body, args: [] }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function readLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const part of stream) {
    text += new TextDecoder().decode(part);
    if (text.includes("\n")) break;
  }
  return text.trim();
}
