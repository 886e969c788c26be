/** The last step: the snippet, and the wait for the first page that loads it. */
import { CircleCheck } from "lucide-preact";
import { useState } from "preact/hooks";
import { guides, judgeAddress } from "../companion/install-guides.ts";
import { formatRelative } from "../lib/format.ts";
import { useEvery } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { Companion } from "../lib/types.ts";
import { ButtonLink } from "../ui/button.tsx";
import { Snippet } from "../ui/copy.tsx";
import { Notice } from "../ui/states.tsx";

export function WebsiteStep({ companion }: { companion: Companion }) {
  const { server } = useSession();
  const { id, embed_token: token, allowed_origins: origins } = companion;
  const install = `/app/companions/${id}/install`;
  const isLive = companion.seen_on.length > 0;
  return (
    <div class="space-y-4">
      {isLive && <LiveLine companion={companion} />}
      {token === null ? (
        <Notice>
          All of its embed tokens are revoked.{" "}
          <a href={install} class="underline">
            Make one
          </a>
        </Notice>
      ) : (
        <>
          <p class="text-pretty text-muted">
            {isLive ? "For your other pages: paste" : "Paste"} this line before{" "}
            <code class="font-mono text-13">&lt;/body&gt;</code>
            {isLive ? ". " : " on your website, then open it. "}
            <a href={install} class="text-accent underline">
              WordPress, Shopify and others
            </a>
          </p>
          {!isLive && <AddressWarning />}
          <Snippet text={guides[0]?.snippet(server.base_url, token) ?? ""} />
          {origins.length > 0 && (
            <p class="text-13 text-muted">
              Works on: <span dir="ltr">{origins.join(", ")}</span>
            </p>
          )}
        </>
      )}
      {!isLive && companion.enabled && <LiveLine companion={companion} />}
      {!companion.enabled && <Notice>This companion is paused, so your website won't show it.</Notice>}
    </div>
  );
}

function AddressWarning() {
  const { server, account } = useSession();
  const problem = judgeAddress(server.base_url);
  if (problem === null) return null;
  return (
    <Notice>
      {problem === "loopback"
        ? "This only works on pages on this computer: the server has no public address yet. "
        : "Websites with https won't load this: the server's address has no https. "}
      {account.role === "operator" ? (
        <>
          Start the server with <code class="font-mono">--domain</code>, or behind a proxy with{" "}
          <code class="font-mono">COMPANIOND_PUBLIC_URL</code>, then copy the line.
        </>
      ) : (
        "Ask your operator for a public https address."
      )}
    </Notice>
  );
}

/** Seconds first: someone is watching. */
function formatAgo(iso: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(iso)) / 1000));
  return seconds < 60 ? `${seconds} s ago` : formatRelative(iso);
}

function LiveLine({ companion: { id, seen_on } }: { companion: Companion }) {
  const [newest] = seen_on;
  return (
    <div class="space-y-4">
      <div
        role="status"
        class={`flex items-center gap-3 rounded-lg px-4 py-3 ${newest ? "bg-good-tint text-good" : "bg-sunken text-muted"}`}
      >
        {newest ? (
          <>
            <CircleCheck size={20} aria-hidden="true" class="shrink-0" />
            <span class="min-w-0 font-medium wrap-anywhere">
              Live on <bdi dir="ltr">{newest.origin.replace(/^https?:\/\//, "")}</bdi>
              <Ago at={newest.last_seen_at} />
            </span>
          </>
        ) : (
          <>
            <span
              aria-hidden="true"
              class="size-2.5 shrink-0 animate-[breathe_1.4s_ease-in-out_infinite] rounded-full bg-accent"
            />
            Listening for the first visit…
          </>
        )}
      </div>
      {newest && (
        <div class="flex flex-wrap gap-2">
          <ButtonLink kind="primary" href={`/app/companions/${id}`}>
            Open your companion
          </ButtonLink>
          <ButtonLink href="/app/conversations">See conversations</ButtonLink>
        </div>
      )}
    </div>
  );
}

/** Not read out each second. */
function Ago({ at }: { at: string }) {
  const [, setSeconds] = useState(0);
  useEvery(1000, () => setSeconds((count) => count + 1));
  return (
    <span aria-live="off" class="tabular-nums">
      , {formatAgo(at)}
    </span>
  );
}
