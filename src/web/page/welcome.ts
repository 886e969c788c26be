/** The welcome page's script: copies text to the clipboard, and cuts the demo's connection where asked to. */
import { openLine } from "./cut-line.ts";

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  const label = button.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy ?? "");
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
}

const { fetch: plainFetch } = globalThis;
const line = openLine(plainFetch);
/** The widget's requests go through the line: it asks for `fetch` each time. */
globalThis.fetch = ((url: string, init: RequestInit = {}) =>
  /\/api\/embed\/.*\/chat/.test(url) ? line.fetch(url, init) : plainFetch(url, init)) as typeof fetch;

document.querySelector("button[data-cut]")?.addEventListener("click", line.cut);
