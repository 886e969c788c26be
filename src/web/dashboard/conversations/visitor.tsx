/** Who a conversation is with: a verified visitor of the website, a browser known by its id alone, or nobody known. */
import { call } from "../lib/api.ts";
import { shortId } from "../lib/format.ts";
import type { Conversation, Visitor } from "../lib/types.ts";
import { Confirm } from "../ui/dialog.tsx";
import { Section } from "../ui/page.tsx";
import { Badge } from "../ui/states.tsx";
import { toVisitorPath } from "./visitor-path.ts";

export function visitorName({ name, email, sub }: Visitor): string {
  return name?.trim() || email?.trim() || sub;
}

interface LinkProps {
  conversation: Conversation;
  onOnly(filter: { visitor_id: string } | { visitor_sub: string }): void;
}

/** In a list, where it shows the visitor's conversations alone. */
export function VisitorButton({ conversation: { visitor, visitor_id }, onOnly }: LinkProps) {
  const look = "min-w-0 text-left hover:text-accent hover:underline";
  if (visitor !== null) {
    return (
      <span class="inline-flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 max-md:justify-end">
        <button
          type="button"
          title="Only this visitor"
          onClick={() => onOnly({ visitor_sub: visitor.sub })}
          class={`${look} wrap-anywhere`}
        >
          <span dir="auto">{visitorName(visitor)}</span>
        </button>
        <Badge tone="good">verified</Badge>
      </span>
    );
  }
  if (visitor_id === null) return <span class="text-muted">unknown</span>;
  return (
    <button
      type="button"
      title="Only this visitor"
      onClick={() => onOnly({ visitor_id })}
      class={`${look} font-mono text-13 text-muted`}
    >
      …{shortId(visitor_id)}
    </button>
  );
}

/** What the website's latest token said of the visitor. */
export function VisitorFacts({ visitor }: { visitor: Visitor }) {
  return (
    <div class="mb-5">
      <Section title="Visitor" actions={<Badge tone="good">verified</Badge>}>
        <VisitorRows visitor={visitor} class="sm:grid-cols-3" />
      </Section>
    </div>
  );
}

export function VisitorRows({ visitor, class: more = "" }: { visitor: Visitor; class?: string }) {
  const facts = [
    ["Name", visitor.name],
    ["Their id on your website", visitor.sub],
    ["E-mail", visitor.email],
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
        {visitor !== null && ", on whichever device, with what your website told of them"}. Backups made before still
        hold it.
      </p>
      {visitor !== null && (
        <p>
          Erased is whoever has the id{" "}
          <code dir="auto" class="font-mono text-[0.92em] text-ink wrap-anywhere">
            {visitor.sub}
          </code>{" "}
          on your website. They begin anew when they come back.
        </p>
      )}
    </Confirm>
  );
}
