/** The frame around every page: the sidebar, which is a drawer on phones, and warnings that concern every page. */
import { Menu, X } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { budgetsPath, usePath } from "./lib/router.ts";
import { budgetAlarm, hasInbox, refreshSession, useSession } from "./lib/session.ts";
import { use } from "./lib/state.ts";
import { Alarm } from "./nav-entry.tsx";
import { Sidebar } from "./sidebar.tsx";
import { IconButton } from "./ui/button.tsx";
import { lazy } from "./ui/lazy.tsx";
import { Wordmark } from "./ui/wordmark.tsx";

const refreshAfterMs = 60_000;

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
    if (!isOpen) return drawer.current?.close();
    drawer.current?.showModal();
    drawer.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [isOpen]);

  return (
    <div class="min-h-dvh max-md:flex max-md:flex-col md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        class="sr-only z-50 rounded-lg bg-accent px-4 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-3 focus:left-3"
      >
        Skip to content
      </a>
      <aside aria-label="Sidebar" class="sticky top-0 hidden h-dvh border-r border-line bg-card md:block">
        <Sidebar />
      </aside>
      <header class="sticky top-0 z-20 flex items-center gap-2 border-b border-line bg-card px-3 py-2 md:hidden">
        <IconButton label="Menu" icon={Menu} size={20} aria-expanded={isOpen} onClick={() => setIsOpen(true)} />
        <Wordmark />
        <span class="flex flex-1 items-center justify-end gap-2">
          {alarm && (
            <a href={budgetsPath}>
              <Alarm text={alarm} />
            </a>
          )}
          {hasInbox(signedIn) && <InboxPart is="count" />}
        </span>
      </header>
      <dialog
        ref={drawer}
        aria-label="Menu"
        onClose={() => setIsOpen(false)}
        class="m-0 h-dvh max-h-none w-72 border-r border-line bg-card p-0 text-ink"
      >
        {isOpen && (
          <>
            <IconButton label="Close menu" icon={X} onClick={() => setIsOpen(false)} class="absolute top-3 right-3" />
            <Sidebar />
          </>
        )}
      </dialog>
      <main
        id="main"
        tabIndex={-1}
        class="mx-auto w-full max-w-6xl min-w-0 px-4 py-6 outline-none max-md:flex-1 sm:p-8"
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
