/** The head of a companion's pages, with what pauses it, and its tabs. */
import { ExternalLink } from "lucide-preact";
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useAction, useLoad } from "../lib/load.ts";
import { navigate, type PageComponent, usePath } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { Companion } from "../lib/types.ts";
import { ButtonLink } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { PageHead } from "../ui/page.tsx";
import { Badge, Pending, Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { Avatar } from "./avatar.tsx";

export interface CompanionPageProps {
  companion: Companion;
  onChanged(companion: Companion): void;
}

/** The last one, so that switching tabs shows no empty page in between. */
let lastShown: Companion | null = null;

/** By their part of the address. Responders see those that are `forAll`. */
const tabs: readonly { at: string; label: string; forAll?: true }[] = [
  { at: "", label: "Overview" },
  { at: "/conversations", label: "Conversations", forAll: true },
  { at: "/knowledge", label: "Knowledge", forAll: true },
  { at: "/tools", label: "Tools" },
  { at: "/playground", label: "Playground" },
  { at: "/appearance", label: "Appearance" },
  { at: "/settings", label: "Settings" },
  { at: "/history", label: "History" },
  { at: "/install", label: "Install" },
];

/** The page of one companion, which begins again with another one. */
export function companionPage(Page: ComponentType<CompanionPageProps>): PageComponent {
  return ({ params }) => <CompanionFrame id={params.id ?? ""} Page={Page} />;
}

function CompanionFrame({ id, Page }: { id: string; Page: ComponentType<CompanionPageProps> }) {
  const loaded = useLoad<Companion>(`/api/companions/${encodeURIComponent(id)}`);
  const companion = loaded.data;
  if (companion) lastShown = companion;
  const head = companion ?? (lastShown?.id === id ? lastShown : null);
  const base = `/app/companions/${id}`;
  const mayChange = useSession().scopes.includes("companions:write");
  // What the other pages are for is not theirs to do; the list leads to the first one.
  const at = usePath();
  const shown = tabs.filter(({ forAll }) => mayChange || forAll);
  const isElsewhere = !shown.some((tab) => at === base + tab.at);
  useEffect(() => {
    if (isElsewhere) navigate(`${base}/knowledge`, { replace: true });
  }, [isElsewhere]);
  if (isElsewhere) return null;
  return (
    <>
      <PageHead
        title={head?.name ?? "Companion"}
        back={{ href: "/app/companions", label: "Companions" }}
        lead={head ? <Avatar companion={head} size={48} /> : <span class="skeleton size-12 rounded-full" />}
        actions={
          mayChange &&
          companion && (
            <>
              <LiveSwitch companion={companion} onChanged={loaded.set} />
              {companion.embed_token && companion.enabled && (
                <ButtonLink href={`/c/${companion.embed_token}`} target="_blank">
                  <span class="max-md:sr-only">Open chat page</span>
                  <ExternalLink size={15} aria-hidden="true" />
                </ButtonLink>
              )}
            </>
          )
        }
      >
        {head && !head.enabled && <Badge tone="warn">Paused – hidden from visitors</Badge>}
      </PageHead>
      <nav
        aria-label="Companion"
        class="mb-6 flex gap-1 overflow-x-auto border-b border-line [scrollbar-width:none] max-md:pr-10 max-md:[mask-image:linear-gradient(to_left,transparent,#000_40px)]"
      >
        {shown.map((tab) => (
          <Tab key={tab.at} href={base + tab.at} label={tab.label} />
        ))}
      </nav>
      {companion ? (
        <Page key={companion.id} companion={companion} onChanged={loaded.set} />
      ) : (
        <Pending of={loaded} lines={6} />
      )}
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
      class={`-mb-px shrink-0 border-b-2 px-3 py-2 font-medium ${
        isHere ? "border-accent text-accent" : "border-transparent text-muted hover:text-ink"
      }`}
    >
      {label}
    </a>
  );
}

/** Whether visitors see it. */
function LiveSwitch({ companion, onChanged }: CompanionPageProps) {
  const [isAsked, setIsAsked] = useState(false);
  const { id, name, enabled } = companion;
  const set = async (enabled: boolean) => {
    onChanged(await call<Companion>("PATCH", `/api/companions/${id}`, { body: { enabled } }));
    say(enabled ? "Back online." : "Paused.");
  };
  const resume = useAction(() => set(true));
  return (
    <>
      <button
        type="button"
        role="switch"
        aria-checked={enabled}
        aria-busy={resume.isBusy}
        disabled={resume.isBusy}
        onClick={() => (enabled ? setIsAsked(true) : void resume.run())}
        class="inline-flex min-h-9 items-center gap-2 rounded-lg px-2 text-14 font-medium hover:bg-sunken"
      >
        <span class={`flex h-5 w-9 rounded-full p-0.5 ${enabled ? "justify-end bg-good" : "bg-edge"}`}>
          <span class="size-4 rounded-full bg-card" />
        </span>
        Live
      </button>
      <Problem error={resume.error} />
      {isAsked && (
        <Confirm
          title={`Pause ${name}?`}
          action="Pause"
          kind="primary"
          onConfirm={() => set(false)}
          onClose={() => setIsAsked(false)}
        >
          <p>The chat disappears from your websites until you turn it back on. Your embed tokens stay valid.</p>
        </Confirm>
      )}
    </>
  );
}
