/** A visitor whom the website vouches for: the token, requested again in time, and whose ids this browser keeps. */

import { CompanionError } from "../../reply-reader/errors.ts";
import { type Connection, openBy } from "./connection.ts";
import { readId, sessionKey, subKey, visitorKey } from "./ids.ts";
import { pendingKey, removeKept } from "./pending.ts";
import { abortable } from "./signals.ts";
import { everywhere, forgetCompanion, type StorageName, type TextStorage } from "./storage.ts";

/** So long before its end a token is no longer used. */
const marginMs = 60_000;

/** A function returns null where no one is signed in. */
export type TokenSource = string | (() => string | null | Promise<string | null>) | null;

export interface Identity {
  identify(source: TokenSource): void;
  /** Fires when the visitor of now has gone; another one then begins. */
  readonly gone: AbortSignal;
  /** Sends the visitor's token with each request, once the visitor's own ids are in place. */
  readonly connection: Connection;
  /** Resolves when the ids are those of the visitor. */
  settle(signal?: AbortSignal): Promise<void>;
}

interface VisitorToken {
  /** Empty: no one is signed in. */
  text: string;
  sub: string;
  /** Epoch milliseconds; not a number, and so never over, where the token does not say. */
  endsAt: number;
}

export function createIdentity(
  plain: Connection,
  { token, storage, timeoutMs }: { token: string; storage: TextStorage; timeoutMs: number },
): Identity {
  let source: TokenSource = null;
  let current: Promise<VisitorToken> | null = null;
  /** Settled: a token that is good for now. */
  let known: VisitorToken | null = null;
  /** Whose ids were kept when that was settled. */
  let owner: string | null = null;
  let gone = new AbortController();

  function forget(areas: readonly StorageName[]): void {
    for (const key of [visitorKey(token), sessionKey(token), pendingKey(token), subKey(token)])
      removeKept(storage, key);
    forgetCompanion(token, areas);
    gone.abort(new DOMException("The visitor has gone.", "AbortError"));
    gone = new AbortController();
  }

  /** One call of the page's function for all requests that wait for it. */
  function getToken(): Promise<VisitorToken> | null {
    if (!source) return null;
    if (known && typeof source === "function" && (known.endsAt - marginMs <= Date.now() || owner !== readOwner()))
      drop();
    if (current) return current;
    const asked = ask(source, timeoutMs).then(async (next) => {
      await welcome(next);
      if (current === asked) {
        known = next;
        owner = readOwner();
      }
      return next;
    });
    current = asked;
    // The next request asks again.
    asked.catch(() => current === asked && drop());
    return asked;
  }

  function drop(): void {
    current = known = null;
  }

  /** Another tab may have signed someone in or out. */
  function readOwner(): string | null {
    return storage.getItem(subKey(token)) || null;
  }

  /** What this browser keeps may be another visitor's; what an anonymous one said is the known one's from now on. */
  async function welcome({ text, sub }: VisitorToken): Promise<void> {
    const kept = readOwner();
    if (!text && kept) forget(everywhere);
    if (!sub || kept === sub) return;
    // Not what the tab has of the visitor who comes.
    if (kept) forget(["localStorage"]);
    const visitor = gone.signal;
    if ((kept || (await merge(text))) && !visitor.aborted) storage.setItem(subKey(token), sub);
  }

  /** False where the server verifies no one, or refuses the token; then the request itself will say so. */
  async function merge(text: string): Promise<boolean> {
    const sessionId = readId(storage, sessionKey(token));
    if (!sessionId) return true;
    const body = JSON.stringify({ session_id: sessionId, visitor_id: readId(storage, visitorKey(token)) });
    const headers = { "Content-Type": "application/json", "X-Visitor-Token": text };
    try {
      await plain.load("/visitor/merge", { method: "POST", headers, body }, { signal: gone.signal });
      return true;
    } catch (error) {
      const { status } = error as CompanionError;
      if (status === 401 || status === 404) return false;
      throw error;
    }
  }

  const open: Connection["open"] = async (path, init, call, canRetry) => {
    for (let attempt = 0; ; attempt++) {
      const asked = getToken();
      const visitor = asked && (await abortable(asked, call.signal));
      const headers = { ...init.headers, ...(visitor?.text && { "X-Visitor-Token": visitor.text }) };
      try {
        return await plain.open(path, { ...init, headers }, call, canRetry);
      } catch (error) {
        const isStale = (error as CompanionError).code === "visitor_unverified" && typeof source === "function";
        if (!isStale || attempt > 0) throw error;
        if (current === asked) drop();
      }
    }
  };

  return {
    identify(next) {
      source = next;
      drop();
      if (next === null) forget(everywhere);
    },
    get gone() {
      return gone.signal;
    },
    async settle(signal) {
      const asked = getToken();
      if (asked) await abortable(asked, signal);
    },
    // The configuration has nothing that belongs to one visitor.
    connection: openBy(open, plain),
  };
}

async function ask(source: NonNullable<TokenSource>, timeoutMs: number): Promise<VisitorToken> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new CompanionError("timeout")), timeoutMs);
    });
    const given = typeof source === "string" ? source : await Promise.race([source(), late]);
    if (given === null) return { text: "", ...noClaims };
    // Not a page for signing in, to which the website has redirected.
    const [text] = /^[\w.-]+$/.exec(String(given).trim()) ?? [];
    if (!text) throw new TypeError("This is no visitor token.");
    return { text, ...readClaims(text) };
  } catch (cause) {
    throw new CompanionError("identify_failed", { message: "The website gave no visitor token.", cause });
  } finally {
    clearTimeout(timer);
  }
}

const noClaims = { sub: "", endsAt: Number.NaN };

/** Of a token that is no JWT the server will say so. */
function readClaims(text: string): typeof noClaims {
  try {
    const payload = (text.split(".")[1] ?? "").replace(/-/g, "+").replace(/_/g, "/");
    const bytes = Uint8Array.from(atob(payload), (char) => char.charCodeAt(0));
    const { sub, exp } = Object(JSON.parse(new TextDecoder().decode(bytes)));
    return { sub: String(sub ?? ""), endsAt: exp * 1000 };
  } catch {
    return noClaims;
  }
}
