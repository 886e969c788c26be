/** How far someone has read a conversation that they have on the screen. */
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import type { ConversationWithMessages } from "../lib/types.ts";
import { changeRow } from "./feed.ts";

/** `isMine`: for people who answer. What is on the screen of anyone who has it open is read. */
export function useReadMarks(
  { id, message_count, handoff, status }: ConversationWithMessages,
  path: string,
  isMine: boolean,
): void {
  const marked = useRef(0);
  const [isSeen, setIsSeen] = useState(document.visibilityState === "visible");
  useEffect(() => {
    const note = () => setIsSeen(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", note);
    return () => document.removeEventListener("visibilitychange", note);
  }, []);
  const isMarked = isMine && handoff !== undefined && status != null;
  useEffect(() => {
    if (!isMarked || !isSeen || message_count <= marked.current) return;
    marked.current = message_count;
    call("POST", `${path}/read`, { body: { seq: message_count } }).then(
      () => changeRow(id, { unread: 0 }),
      () => {
        marked.current = 0;
      },
    );
  }, [message_count, isSeen, isMarked]);
}
