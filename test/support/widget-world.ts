/**
 * The setup for browser tests of the widget: the executable with a mock language model, companions, a browser, and
 * websites of another origin that embed the widget.
 */
import type { Locator, Page } from "playwright-core";
import { launchBrowser, type OpenedPage, openPage, type PageOptions } from "./browser.ts";
import { eventually } from "./eventually.ts";
import { type RunningExecutable, runExecutable, startExecutable } from "./executable.ts";
import { type MockLlm, startMockLlm } from "./mock-llm.ts";
import { wholeStream } from "./mock-llm-replies.ts";

export interface WidgetWorldOptions {
  env?: Record<string, string>;
  args?: string[];
  /** Browser command line arguments. */
  flags?: string[];
}

export interface WidgetWorld extends AsyncDisposable {
  server: RunningExecutable;
  mockLlm: MockLlm;
  /** Creates a companion with the management API and returns it, including `embed_token`. */
  createCompanion(fields?: Record<string, unknown>): Promise<{ id: string; embed_token: string }>;
  /** From now on replies consist of these fragments; null returns to the mock's own. `pauseMs` precedes each. */
  respondWith(fragments: readonly string[] | null, pauseMs?: number): void;
  /** A management key. */
  apiKey: string;
  call(method: string, path: string, body?: unknown): Promise<Response>;
  /** Creates a website with its own origin; returns the URL of a page with this body. */
  host(body: string, options?: HostOptions): string;
  open(options?: PageOptions): Promise<OpenedPage>;
}

export interface HostOptions {
  headers?: Record<string, string>;
  head?: string;
  lang?: string;
}

export async function openWidgetWorld({ env, args, flags }: WidgetWorldOptions = {}): Promise<WidgetWorld> {
  const mockLlm = await startMockLlm();
  const [browser, server] = await Promise.all([
    launchBrowser(flags),
    startExecutable({
      args: args ?? [],
      env: {
        OPENAI_API_KEY: "sk-test-key-of-the-mock",
        OPENAI_BASE_URL: `${mockLlm.url}/v1`,
        COMPANIOND_RATE_PER_IP: "100000",
        COMPANIOND_STREAMS_PER_IP: "100000",
        COMPANIOND_RATE_PER_TOKEN: "100000",
        ...env,
      },
    }),
  ]);
  const key = await createKey(server.dataDir);
  const pages = new Map<string, { html: string; headers: Record<string, string> }>();
  const website = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { html, headers } = pages.get(new URL(request.url).pathname) ?? {};
      if (html === undefined) return new Response(null, { status: 204 });
      return new Response(html, { headers: { "Content-Type": "text/html; charset=utf-8", ...headers } });
    },
  });

  const call = (method: string, path: string, body?: unknown) =>
    fetch(`${server.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  return {
    server,
    mockLlm,
    apiKey: key,
    call,
    respondWith(fragments, pauseMs = 0) {
      if (fragments === null) return mockLlm.respond(null);
      mockLlm.respond(async (_request, response) => {
        for (const part of wholeStream(fragments)) {
          if (pauseMs) await Bun.sleep(pauseMs);
          await response.write(part);
        }
        response.end();
      });
    },
    async createCompanion(fields = {}) {
      const response = await call("POST", "/api/companions", {
        name: "Ada",
        greeting: "Hi, I'm Ada. How can I help you?",
        ...fields,
      });
      if (response.status !== 201) throw new Error(await response.text());
      return (await response.json()) as { id: string; embed_token: string };
    },
    host(body, { headers = {}, head = "", lang = "en" } = {}) {
      const path = `/page-${pages.size}`;
      const html = `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>A website</title>${head}</head><body><main><h1>A website</h1><p>With words of its own.</p></main>${body}</body></html>`;
      pages.set(path, { html, headers });
      return `http://127.0.0.1:${website.port}${path}`;
    },
    open: (options) => openPage(browser, options),
    async [Symbol.asyncDispose]() {
      await website.stop(true);
      await server[Symbol.asyncDispose]();
      await mockLlm.close();
    },
  };
}

async function createKey(dataDir: string): Promise<string> {
  const run = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runExecutable([...args, "--data-dir", dataDir, "--json"]);
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Record<string, string>;
  };
  await run("account", "create", "--email", "owner@example.com");
  const scopes = "companions:read,companions:write,conversations:read,keys:write";
  const { key = "" } = await run(
    "key",
    "create",
    "--account",
    "owner@example.com",
    "--name",
    "test",
    "--scopes",
    scopes,
  );
  return key;
}

/** The script tag of the documentation. */
export function tag(server: { url: string }, token: string, attributes = ""): string {
  return `<script src="${server.url}/widget.js" data-token="${token}" ${attributes} async></script>`;
}

/** The elements of one widget on a page. */
export function widgetOn(page: Page, element = "companion-chat") {
  const root = page.locator(element);
  const input = root.locator(".composer textarea");
  return {
    element: root,
    launcher: root.locator(".launcher"),
    panel: root.locator(".panel"),
    log: root.locator(".log"),
    input,
    send: root.locator(".send"),
    notice: root.locator(".log .notice"),
    replies: root.locator(".row.assistant .body"),
    questions: root.locator(".row.user .body"),
    said: root.locator("[role=status]"),
    button: (name: string): Locator => root.getByRole("button", { name, exact: true }),
    /** Opens the panel, and waits for it. */
    async open() {
      await root.locator(".launcher").click();
      await root.locator(".panel").waitFor();
    },
    /** Sends a message by keyboard. */
    async ask(text: string) {
      await input.fill(text);
      await input.press("Enter");
    },
    /** The same as soon as the widget knows who the visitor is; until then, what is written stays in its field. */
    async askWhenKnown(text: string) {
      await input.fill(text);
      await eventually(async () => {
        await input.press("Enter");
        return (await input.inputValue()) === "";
      });
    },
    /** Resolves when the last reply is complete. */
    async replied(count = 1) {
      const whole = root.locator(".row.assistant[data-state=done]");
      await whole
        .nth(count - 1)
        .waitFor()
        .catch(async (error: Error) => {
          const log = await root.locator(".log").innerHTML();
          throw new Error(`${error.message}\nThe chat shows: ${log}`, { cause: error });
        });
    },
  };
}

/** A computed property of an element of the first widget. */
export function styleOf(page: Page, selector: string, property: string): Promise<string> {
  const part = `document.querySelector("companion-chat").shadowRoot.querySelector("${selector}")`;
  return page.evaluate(`getComputedStyle(${part}).${property}`);
}

/** The name of the focused element inside the first widget, after the browser has moved focus from a removed one. */
export function focusedName(page: Page): Promise<string | null> {
  return page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() =>
    resolve(document.querySelector("companion-chat").shadowRoot.activeElement?.getAttribute("aria-label")))))`);
}

export type Widget = ReturnType<typeof widgetOn>;
