/** Fetches the files that the first one does without: the panel, and what that needs at times. */
import { h } from "./dom.ts";
import { type PanelModule, panelVersion } from "./panel-host.ts";

const secondTryMs = 1000;

/** Of the page's own script, known only while that runs for the first time. */
let origin = { isPinned: false, nonce: "" };
const prefetched = new Map<string, Promise<void>>();

export function setScriptOrigin(script: HTMLScriptElement | null): void {
  origin = { isPinned: /\/assets\/[^/]*$/.test(script?.src ?? ""), nonce: script?.nonce ?? "" };
}

export function prefetchPanel(assetsUrl: string): Promise<void> {
  return prefetch(assetsUrl + PANEL_FILE, PANEL_INTEGRITY);
}

/**
 * Fetches it without running it. The browser checks its hash and keeps it for the import that follows, so a page that
 * pins the script also pins these files. Rejects if it did not arrive or has another hash.
 */
function prefetch(href: string, integrity: string): Promise<void> {
  const known = prefetched.get(href);
  if (known) return known;
  const link = h("link", { rel: "modulepreload", href, integrity, fetchpriority: "low" });
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

export async function loadPanel(assetsUrl: string): Promise<PanelModule> {
  const module = await loadFile<PanelModule>(assetsUrl, PANEL_FILE, PANEL_INTEGRITY, "panel.js");
  if (module.panelVersion !== panelVersion) throw new TypeError(PANEL_FILE);
  return module;
}

/** Rejects after the second failure. */
export async function loadFile<Module>(
  assetsUrl: string,
  file: string,
  integrity: string,
  name: string,
): Promise<Module> {
  const loadPinned = async (query = "") => {
    const url = assetsUrl + file + query;
    await prefetch(url, integrity);
    return import(/* @vite-ignore */ url);
  };
  try {
    return await loadPinned();
  } catch {
    await new Promise((resolve) => setTimeout(resolve, secondTryMs));
    // A different URL: some browsers cache a failed import.
    const query = `?${Date.now()}`;
    // After an upgrade the server has no files of the page's version. A page that chose its version gets no other.
    return origin.isPinned ? loadPinned(query) : import(/* @vite-ignore */ assetsUrl.replace("assets/", name + query));
  }
}
