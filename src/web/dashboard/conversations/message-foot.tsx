/** Under a message of a transcript: when and how it was said, what it used, what it rests on. */
import { Mic } from "lucide-preact";
import { formatInstant, formatNumber } from "../lib/format.ts";
import { useSession } from "../lib/session.ts";
import type { Message } from "../lib/types.ts";
import { CalledTools } from "../tools/call-view.tsx";
import { Badge } from "../ui/states.tsx";
import { Rated } from "./feedback.tsx";
import { SeenPassages } from "./seen-passages.tsx";

export function MessageFoot({ message, companionId }: { message: Message; companionId: string }) {
  const about = message.tokens_estimated ? "≈ " : "";
  return (
    <>
      <time dateTime={message.created_at}>{formatInstant(message.created_at)}</time>
      {message.channel === "voice" && (
        <span class="inline-flex items-center gap-1">
          <Mic size={13} aria-hidden="true" />
          spoken
        </span>
      )}
      {message.output_tokens !== null && (
        <span>
          {about}
          {formatNumber(message.input_tokens ?? 0)} in, {about}
          {formatNumber(message.output_tokens)} out
        </span>
      )}
      {message.model !== null && (
        <span class="wrap-anywhere">
          {message.model}
          {message.provider !== null && message.provider !== "default" && ` at ${message.provider}`}
        </span>
      )}
      {!message.complete && <Badge tone="warn">Interrupted</Badge>}
      {message.complete && message.finish_reason === "length" && <span>cut off at its length limit</span>}
      {message.complete && message.finish_reason === "content_filter" && <span>cut by the provider's filter</span>}
      {message.rating && <Rated rating={message.rating} />}
      {message.tool_calls && <CalledTools calls={message.tool_calls} />}
      {message.sources && <SeenPassages passages={message.sources} />}
      <VersionLink companionId={companionId} version={message.companion_version} />
    </>
  );
}

/** Which version answered. */
function VersionLink({ companionId, version }: { companionId: string; version: number | null }) {
  const { scopes } = useSession();
  if (version === null || !scopes.includes("companions:write")) return null;
  return (
    <a href={`/app/companions/${companionId}/history?version=${version}`} class="underline">
      version {version}
    </a>
  );
}
