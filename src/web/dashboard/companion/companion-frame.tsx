/** The head of a companion's pages, and its tabs. */
import { ExternalLink } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Loaded, useLoad } from "../lib/load.ts";
import { navigate, usePath } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { Companion } from "../lib/types.ts";
import { ButtonLink } from "../ui/button.tsx";
import { PageHead } from "../ui/page.tsx";
import { Badge, Pending } from "../ui/states.tsx";

interface FrameProps {
  id: string;
  children(companion: Companion, loaded: Loaded<Companion>): ComponentChildren;
}

/** The last one, so that switching tabs shows no empty page in between. */
let lastShown: Companion | null = null;

export function CompanionFrame({ id, children }: FrameProps) {
  const loaded = useLoad<Companion>(`/api/companions/${encodeURIComponent(id)}`);
  const companion = loaded.data;
  if (companion) lastShown = companion;
  const head = companion ?? (lastShown?.id === id ? lastShown : null);
  const base = `/app/companions/${id}`;
  const mayChange = useSession().scopes.includes("companions:write");
  // What the other pages are for is not theirs to do; the list leads to the first one.
  const at = usePath();
  const isElsewhere = !mayChange && at !== `${base}/knowledge`;
  useEffect(() => {
    if (isElsewhere) navigate(`${base}/knowledge`, { replace: true });
  }, [isElsewhere]);
  if (isElsewhere) return null;
  return (
    <>
      <PageHead
        title={head?.name ?? "Companion"}
        back={{ href: "/app/companions", label: "Companions" }}
        actions={
          companion?.embed_token &&
          companion.enabled && (
            <ButtonLink href={`/c/${companion.embed_token}`} target="_blank">
              Open its page
              <ExternalLink size={15} aria-hidden="true" />
            </ButtonLink>
          )
        }
      >
        {head && !head.enabled && <Badge tone="warn">Paused: visitors get no answer</Badge>}
      </PageHead>
      <nav aria-label="Companion" class="mb-6 flex gap-1 overflow-x-auto border-b border-line">
        {mayChange && <Tab href={base} label="Settings" />}
        <Tab href={`${base}/knowledge`} label="Knowledge" />
        {mayChange && (
          <>
            <Tab href={`${base}/tools`} label="Tools" />
            <Tab href={`${base}/install`} label="Install" />
            <Tab href={`${base}/playground`} label="Playground" />
            <Tab href={`${base}/history`} label="History" />
          </>
        )}
        <Tab href={`/app/conversations?companion_id=${id}`} label="Conversations" />
      </nav>
      {companion ? children(companion, loaded) : <Pending of={loaded} lines={6} />}
    </>
  );
}

function Tab({ href, label }: { href: string; label: string }) {
  const isHere = usePath() === href;
  const link = useRef<HTMLAnchorElement>(null);
  // On narrow screens the tabs scroll.
  useEffect(() => {
    if (isHere) link.current?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [isHere]);
  return (
    <a
      ref={link}
      href={href}
      aria-current={isHere ? "page" : undefined}
      class={`-mb-px shrink-0 border-b-2 px-3.5 py-2 font-medium ${
        isHere ? "border-accent text-accent" : "border-transparent text-muted hover:text-ink"
      }`}
    >
      {label}
    </a>
  );
}
