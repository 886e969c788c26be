/** Fetches the panel's file: without it there is only the launcher. */
import { h } from "./dom.ts";
import { type PanelModule, panelVersion } from "./panel-host.ts";

const secondTryMs = 1000;

/** Of the page's own script, known only while that runs for the first time. */
let origin = { isPinned: false, nonce: "" };
const prefetched = new Map<string, Promise<void>>();

export function setScriptOrigin(script: HTMLScriptElement | null): void {
  origin = { isPinned: /\/assets\/[^/]*$/.test(script?.src ?? ""), nonce: script?.nonce ?? "" };
}

/**
 * Fetches it without running it. The browser checks its hash and keeps it for the import that follows, so a page that
 * pins the script also pins the panel. Rejects if it did not arrive or has another hash.
 */
export function prefetchPanel(assetsUrl: string, query = ""): Promise<void> {
  const href = assetsUrl + PANEL_FILE + query;
  const known = prefetched.get(href);
  if (known) return known;
  const link = h("link", { rel: "modulepreload", href, integrity: PANEL_INTEGRITY, fetchpriority: "low" });
  link.nonce = origin.nonce;
  const arrival = new Promise<void>((resolve, reject) => {
    link.onload = () => resolve();
    link.onerror = reject;
    // An older browser imports it unchecked.
    if (!link.relList.supports("modulepreload")) resolve();
  });
  // Callers that await it handle the failure.
  arrival.catch(() => prefetched.delete(href));
  prefetched.set(href, arrival);
  document.head.append(link);
  return arrival;
}

/** Rejects after the second failure. */
export async function loadPanel(assetsUrl: string): Promise<PanelModule> {
  try {
    return await loadPinned(assetsUrl);
  } catch {
    await new Promise((resolve) => setTimeout(resolve, secondTryMs));
    // A URL of its own: some browsers cache a failed import.
    const query = `?${Date.now()}`;
    // After an upgrade the server has no files of the page's version. A page that chose its version gets no other.
    return origin.isPinned ? loadPinned(assetsUrl, query) : load(assetsUrl.replace("assets/", `panel.js${query}`));
  }
}

async function loadPinned(assetsUrl: string, query = ""): Promise<PanelModule> {
  await prefetchPanel(assetsUrl, query);
  return load(assetsUrl + PANEL_FILE + query);
}

async function load(url: string): Promise<PanelModule> {
  const module: PanelModule = await import(/* @vite-ignore */ url);
  if (module.panelVersion !== panelVersion) throw new TypeError("The panel is of another version.");
  return module;
}
