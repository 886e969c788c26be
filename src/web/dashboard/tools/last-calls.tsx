/** The last calls of a tool, over all conversations. */
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { formatDuration } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import type { Page, Tool, ToolCallRecord } from "../lib/types.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ShowMore } from "../ui/list.tsx";
import { Time } from "../ui/page.tsx";
import { Pending } from "../ui/states.tsx";
import { CallList } from "./call-view.tsx";

interface LastCallsProps {
  /** Of the tool. */
  path: string;
  tool: Tool;
  onClose(): void;
}

export function LastCalls({ path, tool, onClose }: LastCallsProps) {
  const [calls, setCalls] = useState<readonly ToolCallRecord[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const load = useAction(async () => {
    const page = await call<Page<ToolCallRecord>>("GET", `${path}/calls`, { query: { limit: 20, cursor } });
    setCalls((before) => [...(before ?? []), ...page.data]);
    setCursor(page.next_cursor);
  });
  const begin = useRef(load.run);
  useEffect(() => void begin.current(), []);
  return (
    <Dialog title={`${tool.title}: last calls`} onClose={onClose} isWide>
      {calls?.length === 0 && cursor === null && (
        <p class="text-pretty text-muted">
          No calls yet. When the model uses this tool in a conversation, you'll see what was sent and what came back.
        </p>
      )}
      {calls !== null && calls.length > 0 && (
        <CallList
          calls={calls}
          aside={({ created_at, duration_ms }) => (
            <span class="text-13 text-muted">
              <Time at={created_at} />
              {duration_ms !== null && `, ${formatDuration(duration_ms)}`}
            </span>
          )}
          foot={({ conversation_id }) =>
            conversation_id !== null && (
              <a href={`/app/conversations/${conversation_id}`} class="text-accent underline">
                Open conversation
              </a>
            )
          }
        />
      )}
      {(calls === null || load.error !== null) && <Pending of={{ error: load.error, reload: load.run }} />}
      {calls !== null && load.error === null && cursor !== null && (
        <ShowMore isBusy={load.isBusy} onMore={load.run}>
          Load more
        </ShowMore>
      )}
    </Dialog>
  );
}
