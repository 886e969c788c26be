/** The playground as a visitor has it: the public interface, a conversation that is kept, a connection that can be cut. */
import { Unplug, UserRoundCheck } from "lucide-preact";
import { useRef, useState } from "preact/hooks";
import { openLine } from "../../page/cut-line.ts";
import { formatDuration } from "../lib/format.ts";
import type { Companion } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { lazy } from "../ui/lazy.tsx";
import { Badge, Empty } from "../ui/states.tsx";
import { ChatStage, type Surroundings } from "./chat-stage.tsx";
import { readVisitorName } from "./visitor-token.ts";

const ChooseVisitor = lazy(async () => (await import("./choose-visitor.tsx")).ChooseVisitor);

export function VisitorTrial({ companion, surroundings }: { companion: Companion; surroundings: Surroundings }) {
  const { embed_token: embedToken, visitor_auth: visitorAuth } = companion;
  // Another visitor is another chat.
  const [visitor, setVisitor] = useState<{ token: string | null; run: number }>({ token: null, run: 0 });
  const [isAsked, setIsAsked] = useState(false);
  const cutAtMs = useRef<number | null>(null);
  const [line, setLine] = useState("");
  /** In this browser not as the visitor who a chat page of this server may know. */
  const ownToken = `visit-${companion.id}-${visitor.run}`;

  const [wire] = useState(() => openLine((url, init) => fetch(url, init)));
  const [send] = useState(() => async (input: RequestInfo | URL, init: RequestInit = {}) => {
    const path = new URL(String(input)).pathname.replace(/^(\/api\/embed\/)[^/]+/, `$1${embedToken}`);
    const search = new URL(String(input)).search;
    const response = await wire.fetch(path + search, init);
    if (cutAtMs.current !== null) {
      setLine(`Cut for ${formatDuration(performance.now() - cutAtMs.current)}, and nothing was lost.`);
      cutAtMs.current = null;
    }
    return response;
  });

  if (embedToken === null) {
    return <Empty title="No embed token">Visitors come by an embed token: add one under Install.</Empty>;
  }
  const name = visitor.token === null ? null : readVisitorName(visitor.token);
  return (
    <div class="chat-height fills-window card flex flex-col overflow-hidden">
      <div class="flex min-h-13 flex-wrap items-center gap-2 border-b border-line py-2 pr-2 pl-4 text-14 text-muted">
        <p class="min-w-0 flex-1 basis-48 wrap-anywhere" role="status">
          {line ||
            (name === null ? (
              "You're chatting as an anonymous visitor."
            ) : (
              <>
                You are{" "}
                <strong class="font-medium text-ink">
                  <bdi>{name}</bdi>
                </strong>{" "}
                <Badge tone="good">With a token</Badge>
              </>
            ))}
        </p>
        {visitorAuth !== "off" && (
          <Button icon={UserRoundCheck} onClick={() => setIsAsked(true)}>
            Chat as…
          </Button>
        )}
        <Button
          icon={Unplug}
          onClick={() => {
            cutAtMs.current = performance.now();
            setLine("The connection is cut: the server goes on writing.");
            wire.cut();
          }}
        >
          Cut the connection
        </Button>
      </div>
      <ChatStage
        key={ownToken}
        label="Chat"
        token={ownToken}
        config={null}
        fetch={send}
        visitorToken={visitor.token}
        {...surroundings}
      />
      {isAsked && (
        <ChooseVisitor
          companion={companion}
          onChosen={(token) => {
            setLine("");
            setVisitor(({ run }) => ({ token, run: run + 1 }));
          }}
          onClose={() => setIsAsked(false)}
        />
      )}
    </div>
  );
}
