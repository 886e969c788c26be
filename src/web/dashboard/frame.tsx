/** The frame around every page: navigation, who is signed in, light or dark. */
import {
  Bot,
  ChartNoAxesColumn,
  KeyRound,
  LogOut,
  Menu,
  MessagesSquare,
  Rss,
  ScrollText,
  UserRound,
  UserRoundCheck,
  UsersRound,
  Wallet,
  X,
} from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { toSentence } from "./lib/api.ts";
import { budgetsPath, usePath, visitorKeysPath } from "./lib/router.ts";
import { budgetAlarm, refreshSession, signOut, useSession } from "./lib/session.ts";
import { use } from "./lib/state.ts";
import type { SignedIn } from "./lib/types.ts";
import { Alarm, Place, type PlaceProps } from "./place.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";
import { IconButton } from "./ui/button.tsx";
import { lazy } from "./ui/lazy.tsx";
import { say } from "./ui/toast.tsx";
import { Wordmark } from "./ui/wordmark.tsx";

/** In this order: responders see the first two, owners of some companions one more. */
const places = [
  { href: "/app/companions", label: "Companions", Icon: Bot },
  { href: "/app/conversations", label: "Conversations", Icon: MessagesSquare },
  { href: "/app/usage", label: "Usage", Icon: ChartNoAxesColumn },
  { href: budgetsPath, label: "Budgets", Icon: Wallet },
  { href: "/app/api-keys", label: "API keys", Icon: KeyRound },
  { href: visitorKeysPath, label: "Visitor keys", Icon: UserRoundCheck },
  { href: "/app/webhooks", label: "Webhooks", Icon: Rss },
  { href: "/app/audit", label: "Audit trail", Icon: ScrollText },
] as const;
const membersPlace = { href: "/app/members", label: "Members", Icon: UsersRound } as const;
const operatorPlace = { href: "/app/accounts", label: "Accounts", Icon: UsersRound } as const;
const refreshAfterMs = 60_000;
const accountPlace = { href: "/app/account", label: "Your account", Icon: UserRound } as const;

const SpendingWatch = lazy(async () => (await import("./spending/spending-watch.tsx")).SpendingWatch);
const DemoNotice = lazy(async () => (await import("./demo-notice.tsx")).DemoNotice);
const InboxPart = lazy(async () => (await import("./inbox/inbox-part.tsx")).InboxPart);
const StatusBanner = lazy(async () => (await import("./status-banner.tsx")).StatusBanner);

export function Frame({ children }: { children: ComponentChildren }) {
  const [isOpen, setIsOpen] = useState(false);
  const drawer = useRef<HTMLDialogElement>(null);
  const at = usePath();
  const signedIn = useSession();
  const { account, server, spending } = signedIn;
  const alarm = use(budgetAlarm);

  useEffect(() => {
    // The drawer closes because the page has changed.
    setIsOpen(false);
    void refreshSession(refreshAfterMs);
  }, [at]);
  useEffect(() => {
    if (isOpen) drawer.current?.showModal();
    else drawer.current?.close();
  }, [isOpen]);

  return (
    <div class="min-h-dvh max-md:flex max-md:flex-col md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        class="sr-only z-50 rounded-lg bg-accent px-4 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-3 focus:left-3"
      >
        Skip to the page
      </a>
      <aside aria-label="Sidebar" class="sticky top-0 hidden h-screen border-r border-line bg-card md:block">
        <Sidebar />
      </aside>
      <header class="sticky top-0 z-20 flex items-center gap-2 border-b border-line bg-card px-3 py-2 md:hidden">
        <IconButton label="Menu" aria-expanded={isOpen} onClick={() => setIsOpen(true)}>
          <Menu size={20} aria-hidden="true" />
        </IconButton>
        <Wordmark />
        {alarm && (
          <a href={budgetsPath} class="ml-auto">
            <Alarm text={alarm} />
          </a>
        )}
      </header>
      <dialog
        ref={drawer}
        aria-label="Menu"
        onClose={() => setIsOpen(false)}
        class="m-0 h-dvh w-72 max-w-[85vw] border-r border-line bg-card p-0 text-ink"
      >
        {isOpen && (
          <>
            <IconButton label="Close menu" onClick={() => setIsOpen(false)} class="absolute top-3 right-3">
              <X size={18} aria-hidden="true" />
            </IconButton>
            <Sidebar />
          </>
        )}
      </dialog>
      <main
        id="main"
        tabIndex={-1}
        class="mx-auto w-full max-w-6xl min-w-0 px-4 py-6 outline-none max-md:flex-1 sm:px-8 sm:py-9"
      >
        {server.is_demo_llm && <DemoNotice />}
        {hasInbox(signedIn) && <InboxPart is="watch" />}
        {(spending.is_stopped || spending.has_budgets) && <SpendingWatch />}
        {account.role === "operator" && <StatusBanner />}
        {children}
      </main>
    </div>
  );
}

/** As long as no companion lets people step in, there is nothing about them. */
function hasInbox({ people, scopes }: SignedIn): boolean {
  return people.are_used && scopes.includes("conversations:reply");
}

function Sidebar() {
  const signedIn = useSession();
  const { account, member, server, spending, scopes } = signedIn;
  const hasMoney = server.has_prices || spending.has_budgets;
  const most = scopes.includes("audit:read") ? places.length : scopes.includes("usage:read") ? 3 : 2;
  const shown: PlaceProps[] = places.slice(0, most).filter(({ href }) => href !== budgetsPath || hasMoney);
  if (scopes.includes("companions:write")) shown.push(membersPlace);
  if (account.role === "operator" && member === null) shown.push(operatorPlace);
  return (
    <div class="flex h-full flex-col gap-6 overflow-y-auto p-4">
      <a href="/app/companions" class="px-2 pt-1.5">
        <Wordmark />
      </a>
      <nav aria-label="Main" class="flex-1">
        <ul class="space-y-0.5">
          {hasInbox(signedIn) && (
            <li>
              <InboxPart is="place" />
            </li>
          )}
          {shown.map((place) => (
            <li key={place.href}>
              <Place {...place} />
            </li>
          ))}
        </ul>
      </nav>
      <div class="space-y-1 border-t border-line pt-4">
        {hasInbox(signedIn) && <InboxPart is="presence" />}
        <Place {...accountPlace} />
        <p class="truncate px-3 text-13 text-muted" title={account.email}>
          {account.email}
        </p>
        <div class="flex items-center justify-between pt-1 pl-1.5">
          <ThemeSwitch />
          <a href="/docs/guides" target="_blank" rel="noreferrer" class="text-muted hover:text-ink">
            Help
          </a>
          <IconButton label="Sign out" onClick={() => void signOut().catch((error: unknown) => say(toSentence(error)))}>
            <LogOut size={18} aria-hidden="true" />
          </IconButton>
        </div>
      </div>
    </div>
  );
}
