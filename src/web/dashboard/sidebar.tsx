/** The navigation, in groups, of which everyone sees what their scopes allow, and the menu of the account. */
import {
  Bot,
  Briefcase,
  ChartLine,
  ChartNoAxesColumn,
  CircleQuestionMark,
  ContactRound,
  KeyRound,
  type LucideIcon,
  MessagesSquare,
  Rss,
  ScrollText,
  Server as ServerIcon,
  UserRoundCheck,
  UsersRound,
  Wallet,
} from "lucide-preact";
import { AccountMenu } from "./account-menu.tsx";
import { budgetsPath, homePath, visitorKeysPath } from "./lib/router.ts";
import { hasInbox, useSession } from "./lib/session.ts";
import type { SignedIn } from "./lib/types.ts";
import { NavEntry } from "./nav-entry.tsx";
import { lazy } from "./ui/lazy.tsx";
import { Wordmark } from "./ui/wordmark.tsx";

const InboxPart = lazy(async () => (await import("./inbox/inbox-part.tsx")).InboxPart);

interface Entry {
  href: string;
  label: string;
  Icon: LucideIcon;
  /** Not set: for everyone. */
  isFor?: SignedIn["scopes"][number] | ((signedIn: SignedIn) => boolean);
}

const inboxEntry = "inbox";

const groups: readonly { title: string; entries: readonly (Entry | typeof inboxEntry)[] }[] = [
  { title: "", entries: [inboxEntry] },
  {
    title: "Build",
    entries: [
      { href: homePath, label: "Companions", Icon: Bot },
      { href: "/app/unanswered", label: "Knowledge gaps", Icon: CircleQuestionMark, isFor: "knowledge:read" },
    ],
  },
  {
    title: "Watch",
    entries: [
      { href: "/app/conversations", label: "Conversations", Icon: MessagesSquare },
      { href: "/app/leads", label: "Leads", Icon: ContactRound },
      { href: "/app/insights", label: "Insights", Icon: ChartLine, isFor: "usage:read" },
      { href: "/app/usage", label: "Usage", Icon: ChartNoAxesColumn, isFor: "usage:read" },
      { href: budgetsPath, label: "Budgets", Icon: Wallet, isFor: hasMoney },
    ],
  },
  {
    title: "Develop",
    entries: [
      { href: "/app/api-keys", label: "API keys", Icon: KeyRound, isFor: "audit:read" },
      { href: visitorKeysPath, label: "Visitor keys", Icon: UserRoundCheck, isFor: "audit:read" },
      { href: "/app/webhooks", label: "Webhooks", Icon: Rss, isFor: "audit:read" },
      { href: "/app/audit", label: "Audit", Icon: ScrollText, isFor: "audit:read" },
    ],
  },
  {
    title: "Manage",
    entries: [
      { href: "/app/members", label: "Members", Icon: UsersRound, isFor: "companions:write" },
      { href: "/app/accounts", label: "Accounts", Icon: Briefcase, isFor: isOperator },
      { href: "/app/server", label: "Server", Icon: ServerIcon, isFor: isOperator },
    ],
  },
];

function hasMoney({ scopes, server, spending }: SignedIn): boolean {
  return scopes.includes("audit:read") && (server.has_prices || spending.has_budgets);
}

function isOperator({ account, member }: SignedIn): boolean {
  return account.role === "operator" && member === null;
}

function isShown(entry: Entry | typeof inboxEntry, signedIn: SignedIn): boolean {
  if (entry === inboxEntry) return hasInbox(signedIn);
  const { isFor } = entry;
  return typeof isFor === "function" ? isFor(signedIn) : isFor === undefined || signedIn.scopes.includes(isFor);
}

export function Sidebar() {
  const signedIn = useSession();
  const shown = groups
    .map(({ title, entries }) => ({ title, entries: entries.filter((entry) => isShown(entry, signedIn)) }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <div class="flex h-full flex-col">
      <a href={homePath} class="self-start rounded-md px-5 pt-4 pb-2">
        <Wordmark />
      </a>
      <nav aria-label="Main" class="fades-below min-h-0 flex-1 overflow-y-auto px-3 pt-2 pb-6">
        {shown.map(({ title, entries }) => (
          <section key={title} aria-label={title || undefined} class="mb-3">
            {title && (
              <p aria-hidden="true" class="px-2 pb-0.5 text-12 font-medium text-muted">
                {title}
              </p>
            )}
            <ul>
              {entries.map((entry) =>
                entry === inboxEntry ? (
                  <li key={entry}>
                    <InboxPart is="entry" />
                  </li>
                ) : (
                  <li key={entry.href}>
                    <NavEntry {...entry} />
                  </li>
                ),
              )}
            </ul>
          </section>
        ))}
      </nav>
      <div class="space-y-1 border-t border-line p-3">
        {hasInbox(signedIn) && (
          <div class="min-h-9">
            <InboxPart is="presence" />
          </div>
        )}
        <AccountMenu />
      </div>
    </div>
  );
}
