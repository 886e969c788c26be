/** The playground as a visitor has it: the public interface, a conversation that is kept, a reply that outlives a cut. */
import { Unplug, UserRoundCheck } from "lucide-preact";
import { useRef, useState } from "preact/hooks";
import { openLine } from "../../page/cut-line.ts";
import { CompanionError, createCompanion } from "../../sdk/index.ts";
import { ApiError } from "../lib/api.ts";
import { formatDuration } from "../lib/format.ts";
import type { Companion } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { lazy } from "../ui/lazy.tsx";
import { Badge, Empty } from "../ui/states.tsx";
import { ChatCard } from "./chat-card.tsx";
import { type Ask, useChat } from "./use-chat.ts";
import { readVisitorName } from "./visitor-token.ts";

const ChooseVisitor = lazy(async () => (await import("./choose-visitor.tsx")).ChooseVisitor);

export function VisitorChat({ companion }: { companion: Companion }) {
  const { embed_token: embedToken } = companion;
  const [token, setToken] = useState<string | null>(null);
  const [isAsked, setIsAsked] = useState(false);
  const visit = useRef<Visit | null>(null);
  const cutAtMs = useRef<number | null>(null);
  const [isCut, setIsCut] = useState(false);

  const chat = useChat(async ({ message, signal, onText, onChange }: Ask) => {
    visit.current ??= beginVisit(embedToken ?? "", token);
    try {
      for await (const fragment of visit.current.chat(message, signal)) {
        if (cutAtMs.current !== null) {
          onChange({ line: `Cut for ${formatDuration(performance.now() - cutAtMs.current)}, and nothing was lost.` });
          cutAtMs.current = null;
          setIsCut(false);
        }
        onText(fragment);
      }
    } finally {
      cutAtMs.current = null;
      setIsCut(false);
    }
    return true;
  });

  if (embedToken === null) {
    return <Empty title="No embed token">Visitors come by an embed token: add one under Install.</Empty>;
  }
  const canVerify = companion.visitor_auth !== "off";
  return (
    <>
      <ChatCard
        companion={companion}
        chat={chat}
        onStartOver={() => visit.current?.newConversation()}
        head={
          <span role="status" class="wrap-anywhere">
            {isCut ? "The connection is cut: the server goes on writing." : <Who token={token} />}
          </span>
        }
        actions={
          canVerify && (
            <Button icon={UserRoundCheck} disabled={chat.isRunning} onClick={() => setIsAsked(true)}>
              Chat as…
            </Button>
          )
        }
        whileRunning={
          <Button
            icon={Unplug}
            disabled={isCut}
            onClick={() => {
              cutAtMs.current = performance.now();
              setIsCut(true);
              visit.current?.cut();
            }}
          >
            Cut the connection
          </Button>
        }
      />
      {isAsked && (
        <ChooseVisitor
          companion={companion}
          onChosen={(chosen) => {
            // Somebody else begins with nothing of the one before.
            visit.current = null;
            chat.startOver();
            setToken(chosen);
          }}
          onClose={() => setIsAsked(false)}
        />
      )}
    </>
  );
}

function Who({ token }: { token: string | null }) {
  if (token === null) return <>Nobody vouches for you.</>;
  return (
    <>
      You are <strong class="font-medium text-ink">{readVisitorName(token)}</strong>{" "}
      <Badge tone="good">with a token</Badge>
    </>
  );
}

interface Visit {
  /** Yields the reply; rejects with `ApiError` if it did not begin, or broke off. */
  chat(message: string, signal: AbortSignal): AsyncGenerator<string, void, undefined>;
  /** Ends every connection, and lets none begin for a moment. */
  cut(): void;
  newConversation(): void;
}

/**
 * The playground's visitor: the public client in a browser of its own, with a connection that can be cut.
 * `visitorToken`: what makes the visitor a verified one.
 */
function beginVisit(embedToken: string, visitorToken: string | null): Visit {
  const memory = new Map<string, string>();
  const line = openLine((url, init) => fetch(url, init));
  const companion = createCompanion({
    baseUrl: location.origin,
    token: embedToken,
    storage: {
      getItem: (key) => memory.get(key) ?? null,
      setItem: (key, value) => void memory.set(key, value),
      removeItem: (key) => void memory.delete(key),
    },
    fetch: line.fetch,
  });
  if (visitorToken !== null) companion.identify(visitorToken);
  return {
    async *chat(message, signal) {
      try {
        yield* companion.chat(message, { signal });
      } catch (error) {
        throw error instanceof CompanionError ? new ApiError(sentenceOf(error), error.status, error.code) : error;
      }
    },
    cut: line.cut,
    newConversation: () => void companion.newConversation(),
  };
}

/** The server's own sentence, where it spoke. */
function sentenceOf({ code, message }: CompanionError): string {
  if (code === "not_found") return "Visitors cannot reach it: it is paused, or its embed token was revoked.";
  if (message !== code) return message;
  return "The reply broke off: the server could not be reached again. Check the connection, then try again.";
}
