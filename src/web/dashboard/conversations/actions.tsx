/** What is done with a whole conversation: saved as a file, deleted, or erased with all else of its visitor. */
import { Trash2, UserRoundX } from "lucide-preact";
import { useState } from "preact/hooks";
import { useSession } from "../lib/session.ts";
import type { ConversationWithMessages } from "../lib/types.ts";
import { saveFile } from "../ui/copy.tsx";
import { ConfirmDelete } from "../ui/dialog.tsx";
import { type MenuItem, MoreMenu } from "../ui/menu.tsx";
import { say } from "../ui/toast.tsx";
import { EraseVisitor } from "./visitor.tsx";

export function exportConversation(whole: ConversationWithMessages, companionName: string): void {
  const { messages_next_cursor: _, ...conversation } = whole;
  const text = JSON.stringify({ companion: companionName, ...conversation }, null, 2);
  saveFile(`conversation-${conversation.id}.json`, text, "application/json");
}

interface ActionsProps {
  conversation: ConversationWithMessages;
  path: string;
  companionName: string;
  /** What else can be done, above these. */
  more: readonly MenuItem[];
  onGone(): void;
}

/** Nothing for those who may do none of it. */
export function MoreActions({ conversation, path, companionName, more, onGone }: ActionsProps) {
  const [asked, setAsked] = useState<"delete" | "erase" | null>(null);
  const { scopes } = useSession();
  const mayDelete = scopes.includes("conversations:write");
  const isKnown = conversation.visitor_id !== null || conversation.visitor !== null;
  const remove = { label: "Delete…", Icon: Trash2, isRisk: true, onChoose: () => setAsked("delete") };
  const erase = { label: "Erase visitor…", Icon: UserRoundX, isRisk: true, onChoose: () => setAsked("erase") };
  return (
    <>
      <MoreMenu
        label="More actions"
        items={[...more, ...(mayDelete ? [remove] : []), ...(mayDelete && isKnown ? [erase] : [])]}
      />
      {asked === "delete" && (
        <ConfirmDelete title="Delete this conversation?" path={path} onDone={onGone} onClose={() => setAsked(null)}>
          <p>Its messages are deleted. Usage stays as it was counted.</p>
        </ConfirmDelete>
      )}
      {asked === "erase" && (
        <EraseVisitor
          conversation={conversation}
          companionName={companionName}
          onErased={() => {
            onGone();
            say("Erased.");
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}
