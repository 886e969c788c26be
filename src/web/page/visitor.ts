/**
 * The script of a companion's page where visitors are verified: takes their token out of the address, before anything
 * else can read it there, and hands it to the chat.
 */

interface Chat extends HTMLElement {
  identify(token: string): unknown;
}

const given = takeGiven();
const isRequired = document.currentScript?.dataset.visitors === "required";
/** The tab's own: it must outlive a reload, which phones do on their own. The widget forgets it with all else. */
const key = `companion:${location.pathname.split("/")[2]}:visitor-token`;
const token = keep(given);

/** Undefined where the address says nothing of a visitor; empty where there is none. */
function takeGiven(): string | undefined {
  const fragment = /^#visitor=(.*)$/.exec(location.hash);
  if (fragment) history.replaceState(history.state, "", location.pathname + location.search);
  return fragment?.[1];
}

/** Returns the token that counts: a new one, or that of this tab until it ends. */
function keep(given: string | undefined): string | null {
  try {
    if (given === undefined) {
      const kept = sessionStorage.getItem(key);
      return kept !== null && !hasEnded(kept) ? kept : null;
    }
    sessionStorage.setItem(key, given);
  } catch {
    // A frame may have no storage: the token is good until the page goes.
  }
  return given || null;
}

function hasEnded(text: string): boolean {
  try {
    const payload = (text.split(".")[1] ?? "").replace(/-/g, "+").replace(/_/g, "/");
    return JSON.parse(atob(payload)).exp * 1000 <= Date.now();
  } catch {
    return true;
  }
}

// A link to the same page, with another token.
addEventListener("hashchange", () => {
  const next = takeGiven();
  if (next === undefined) return;
  keep(next);
  location.reload();
});

// The widget takes it before it asks the server for anything.
if (token !== null) Object.assign(window, { companiond: [(chat: Chat) => chat.identify(token)] });
else if (isRequired) {
  addEventListener("DOMContentLoaded", () => {
    document.querySelector("companion-chat")?.remove();
    document.querySelector("main")?.removeAttribute("hidden");
  });
}
