/** What a page was at when its test has waited in vain: without it a timeout says only what did not come. */
import type { Page, Request } from "playwright-core";
import { patienceMs } from "./eventually.ts";

/** Notes the page's requests from now on. The result prints them, and what stands in the page, if the test took that long. */
export function watchForLateness(page: Page): () => Promise<void> {
  const openedMs = performance.now();
  const open = new Set<Request>();
  const failed: string[] = [];
  page.on("request", (request) => open.add(request));
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => {
    open.delete(request);
    failed.push(`${describe(request)}: ${request.failure()?.errorText}`);
  });
  return async () => {
    if (performance.now() - openedMs < patienceMs || page.isClosed()) return;
    const lines = [...open].map(describe);
    // Of a page that hangs nothing can be read.
    const state = await Promise.race([
      page.evaluate(readState).catch(String),
      Bun.sleep(2_000).then(() => "does not answer"),
    ]);
    console.log("A page whose test took long:", { url: page.url(), open: lines, failed: failed.slice(-10), state });
  };
}

function describe(request: Request): string {
  return `${request.method()} ${request.url()}`;
}

const readState = `({
  focus: document.hasFocus() + " " + document.activeElement?.outerHTML.slice(0, 200),
  ready: document.readyState + " " + document.visibilityState,
  text: document.body?.innerText.slice(0, 1000),
  widget: document.querySelector("companion-chat")?.shadowRoot?.textContent?.slice(0, 500),
})`;
