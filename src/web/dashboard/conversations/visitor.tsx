/** Who a conversation is with: a verified visitor of the website, a browser known by its id alone, or unknown. */
import { call } from "../lib/api.ts";
import type { Conversation, Visitor } from "../lib/types.ts";
import { Confirm } from "../ui/dialog.tsx";
import { toVisitorPath } from "./visitor-path.ts";

export function visitorName({ name, email, sub }: Visitor): string {
  return name?.trim() || email?.trim() || sub;
}

export function VisitorRows({ visitor, class: more = "" }: { visitor: Visitor; class?: string }) {
  const facts = [
    ["Name", visitor.name],
    ["ID on your website", visitor.sub],
    ["Email", visitor.email],
    ...Object.entries(visitor.attributes),
  ] as const;
  return (
    <dl class={`grid gap-x-8 gap-y-3 ${more}`}>
      {facts
        .filter(([, value]) => value !== null)
        .map(([title, value]) => (
          <div key={title} class="min-w-0">
            <dt dir="auto" class="text-13 text-muted wrap-anywhere">
              {title}
            </dt>
            <dd dir="auto" class="font-medium wrap-anywhere">
              {typeof value === "string" ? value : JSON.stringify(value)}
            </dd>
          </div>
        ))}
    </dl>
  );
}

interface EraseProps {
  conversation: Conversation;
  companionName: string;
  onErased(): void;
  onClose(): void;
}

/** For conversations of which the visitor is known. */
export function EraseVisitor({ conversation, companionName, onErased, onClose }: EraseProps) {
  const { visitor, visitor_id, companion_id } = conversation;
  return (
    <Confirm
      title={visitor === null ? "Erase this visitor?" : `Erase ${visitorName(visitor)}?`}
      action="Erase"
      onConfirm={async () => {
        await call("DELETE", toVisitorPath(companion_id, visitor?.sub ?? visitor_id ?? ""));
        onErased();
      }}
      onClose={onClose}
    >
      <p>
        Everything that this visitor and {companionName} said is erased, in all their conversations
        {visitor !== null && ", on every device, with what your website sent about them"}. Earlier backups still contain
        it.
      </p>
      {visitor !== null && (
        <p>
          This erases the visitor with the ID{" "}
          <code dir="auto" class="font-mono text-13 text-ink wrap-anywhere">
            {visitor.sub}
          </code>{" "}
          on your website. They start fresh when they come back.
        </p>
      )}
    </Confirm>
  );
}
