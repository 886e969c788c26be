/** The address bar: the current page, navigation, and the question before unsaved work is left. */
import type { ComponentType } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { State, use } from "./state.ts";

/** The parameters in the path of a page. */
export type Params = Record<string, string>;

export type PageComponent = ComponentType<{ params: Params }>;

/** Addresses that other files lead to. */
export const homePath = "/app/companions";
export const startPath = "/app/start";
export const signInPath = "/app/sign-in";
export const secondFactorPath = "/app/account/second-factor";
export const budgetsPath = "/app/budgets";
export const inboxPath = "/app/inbox";
export const visitorKeysPath = "/app/visitor-keys";

const address = new State(location.pathname + location.search);

/** Without a slash at the end. */
export function currentPath(): string {
  return address.value.split("?", 1)[0]?.replace(/(.)\/+$/, "$1") ?? "";
}

export function usePath(): string {
  use(address);
  return currentPath();
}

export function useSearch(): URLSearchParams {
  const text = use(address);
  return useMemo(() => new URLSearchParams(text.split("?")[1] ?? ""), [text]);
}

/** Set while unsaved work blocks navigation: what to do once it may be left. */
export const heldBack = new State<(() => void) | null>(null);

/** What is unsaved: a page's form, and a dialog's over it. */
const guards = new Set<object>();
let index: number = history.state?.index ?? 0;
/** `popstate` events that this file has caused itself. */
let ownPops = 0;

/** Goes to a page of the dashboard, unless there is unsaved work and the person wants to stay. */
export function navigate(to: string, { replace = false } = {}): void {
  whenFree(() => {
    if (!replace) index++;
    history[replace ? "replaceState" : "pushState"]({ index }, "", to);
    arrive();
  });
}

/** Changes the query of the page that is shown, without a new entry in the history. */
export function replaceSearch(values: Record<string, string | null>): void {
  const next = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  history.replaceState({ index }, "", location.pathname + (next.size > 0 ? `?${next}` : ""));
  address.value = location.pathname + location.search;
}

/** While `isUnsaved`, leaving the page asks first. A page and a dialog over it may both be. */
export function useLeaveGuard(isUnsaved: boolean): void {
  // Before the browser handles anything else: the next event may be leaving the page.
  useLayoutEffect(() => {
    if (!isUnsaved) return;
    const own = {};
    guards.add(own);
    return () => void guards.delete(own);
  }, [isUnsaved]);
}

export function hasUnsavedWork(): boolean {
  return guards.size > 0;
}

/** The work was saved, or may be discarded. */
export function releaseGuard(): void {
  guards.clear();
}

function whenFree(act: () => void): void {
  if (!hasUnsavedWork()) act();
  else heldBack.value = act;
}

function arrive(): void {
  const isSamePage = currentPath() === location.pathname;
  address.value = location.pathname + location.search;
  if (!isSamePage) window.scrollTo(0, 0);
}

export function startRouter(): void {
  history.scrollRestoration = "auto";
  history.replaceState({ index }, "", location.href);

  window.addEventListener("popstate", ({ state }) => {
    const next: number = state?.index ?? 0;
    if (ownPops > 0) {
      ownPops--;
      return;
    }
    const steps = next - index;
    if (hasUnsavedWork() && steps !== 0) {
      // The browser has left already: send it back, and let it go again once that is confirmed.
      ownPops++;
      history.go(-steps);
      heldBack.value = () => history.go(steps);
      return;
    }
    index = next;
    arrive();
  });

  window.addEventListener("beforeunload", (event) => {
    if (hasUnsavedWork()) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (!/^\/app(\/|$)/.test(link.pathname)) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}
