/** Under a message of a transcript: when and how it was said, what it used, what it rests on. */
import { Mic } from "lucide-preact";
import { formatInstant, formatNumber } from "../lib/format.ts";
import { useSession } from "../lib/session.ts";
import type { Message } from "../lib/types.ts";
import { CalledTools } from "../tools/call-view.tsx";
import { WebLink } from "../ui/links.tsx";
import { Badge } from "../ui/states.tsx";
import { Rated } from "./feedback.tsx";

/** The day stands above the messages of it. */
const times = new Intl.DateTimeFormat("en", { timeStyle: "short" });

export function MessageFoot({ message, companionId }: { message: Message; companionId: string }) {
  return (
    <>
      <time dateTime={message.created_at} title={formatInstant(message.created_at)}>
        {times.format(new Date(message.created_at))}
      </time>
      {message.channel === "voice" && (
        <span class="inline-flex items-center gap-1">
          <Mic size={13} aria-hidden="true" />
          Spoken
        </span>
      )}
      {!message.complete && <Badge tone="warn">Interrupted</Badge>}
      {message.complete && message.finish_reason === "length" && <span>Cut off at its length limit</span>}
      {message.complete && message.finish_reason === "content_filter" && <span>Cut by the provider's filter</span>}
      {message.rating && <Rated rating={message.rating} />}
      {message.tool_calls && <CalledTools calls={message.tool_calls} />}
      {message.sources && <SeenPassages passages={message.sources} />}
      {(message.model !== null || message.output_tokens !== null || message.companion_version !== null) && (
        <Cost message={message} companionId={companionId} />
      )}
    </>
  );
}

/** What only few ask: which model and version replied, and how much it read and wrote. */
function Cost({ message, companionId }: { message: Message; companionId: string }) {
  const about = message.tokens_estimated ? "≈ " : "";
  return (
    <details class="[&[open]]:w-full">
      <summary class="list-none underline">Details</summary>
      <p class="mt-1 flex flex-wrap gap-x-3">
        {message.model !== null && (
          <span class="wrap-anywhere">
            {message.model}
            {message.provider !== null && message.provider !== "default" && ` at ${message.provider}`}
          </span>
        )}
        {message.output_tokens !== null && (
          <span>
            {about}
            {formatNumber(message.input_tokens ?? 0)} tokens in, {about}
            {formatNumber(message.output_tokens)} out
          </span>
        )}
        <VersionLink companionId={companionId} version={message.companion_version} />
      </p>
    </details>
  );
}

/** Which version answered. */
function VersionLink({ companionId, version }: { companionId: string; version: number | null }) {
  const { scopes } = useSession();
  if (version === null || !scopes.includes("companions:write")) return null;
  return (
    <a href={`/app/companions/${companionId}/history?version=${version}`} class="underline">
      Version {version}
    </a>
  );
}

type Seen = NonNullable<Message["sources"]>[number];

/** The passages that the model saw for a reply, and which of them it cites. */
function SeenPassages({ passages }: { passages: readonly Seen[] }) {
  if (passages.length === 0) return <span>No matching source</span>;
  const cited = passages.filter((passage) => passage.cited);
  const others = passages.filter((passage) => !passage.cited);
  return (
    <details class="[&[open]]:w-full">
      <summary class="list-none underline">
        {cited.length === 0 ? "No source cited" : `${cited.length} of ${passages.length} sources cited`}
      </summary>
      <ul class="mt-2 rounded-lg border border-line text-14" aria-label="Sources">
        {[...cited, ...others].map((passage) => (
          <li key={passage.n} class="border-line px-3.5 py-1.5 not-last:border-b">
            <SeenPassage passage={passage} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function SeenPassage({ passage }: { passage: Seen }) {
  const { n, cited, title, url, page, text } = passage;
  const mark = cited && <Badge tone="good">Cited</Badge>;
  if (title === null) {
    return (
      <>
        [{n}] No longer there: the source was deleted or refreshed. {mark}
      </>
    );
  }
  return (
    <details>
      <summary class="wrap-anywhere">
        [{n}]{" "}
        <span class="font-medium text-ink" dir="auto">
          {title}
        </span>
        {page !== null && `, page ${page}`} {mark}
      </summary>
      {url !== null && (
        <p class="py-1.5">
          <WebLink url={url}>{url}</WebLink>
        </p>
      )}
      <p dir="auto" class="mt-1 text-ink wrap-anywhere whitespace-pre-wrap">
        {text}
      </p>
    </details>
  );
}
