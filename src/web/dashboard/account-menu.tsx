/** The menu of the person who is signed in: their account, the theme, help, and the sign-out. */
import { ChevronsUpDown, CircleHelp, LogOut, type LucideIcon, Monitor, Moon, Sun, UserRound } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { toSentence } from "./lib/api.ts";
import { signOut, useSession } from "./lib/session.ts";
import { use } from "./lib/state.ts";
import { type Theme, theme } from "./lib/theme.ts";
import { say } from "./ui/toast.tsx";
import { useMenu } from "./ui/use-menu.ts";

const themes: readonly { value: Theme; label: string; Icon: LucideIcon }[] = [
  { value: "light", label: "Light", Icon: Sun },
  { value: "dark", label: "Dark", Icon: Moon },
  { value: "system", label: "System", Icon: Monitor },
];
const item = "flex w-full items-center gap-3 rounded-md px-2 py-2 text-left hover:bg-sunken pointer-coarse:py-3";

export function AccountMenu() {
  const { account, member } = useSession();
  const { isOpen, close, frame, opener } = useMenu();
  return (
    <div {...frame}>
      {isOpen && (
        <div
          role="menu"
          aria-label="Account"
          class="absolute inset-x-0 bottom-full z-10 mb-2 animate-[rise_140ms_ease-out] rounded-lg border border-line bg-card p-1 floating"
        >
          <Link href="/app/account" Icon={UserRound} onClick={close}>
            Your account
          </Link>
          <Link href="/docs/guides" Icon={CircleHelp} onClick={close} target="_blank">
            Help
          </Link>
          <Themes />
          <button
            type="button"
            role="menuitem"
            tabIndex={-1}
            class={item}
            onClick={() => void signOut().catch((error: unknown) => say(toSentence(error)))}
          >
            <LogOut size={16} class="text-muted" aria-hidden="true" />
            Sign out
          </button>
        </div>
      )}
      <button type="button" {...opener} class="flex w-full items-center gap-2 rounded-lg p-2 text-left hover:bg-sunken">
        <span
          aria-hidden="true"
          class="grid size-8 shrink-0 place-items-center rounded-full bg-tint font-semibold text-accent uppercase"
        >
          {account.email.slice(0, 1)}
        </span>
        <span class="min-w-0 flex-1">
          <span class="sr-only">Account: </span>
          <span dir="auto" class="block truncate text-13 font-medium" title={account.email}>
            {account.email}
          </span>
          <span class="block text-12 text-muted capitalize">{member?.role ?? account.role}</span>
        </span>
        <ChevronsUpDown size={16} class="shrink-0 text-muted" aria-hidden="true" />
      </button>
    </div>
  );
}

interface LinkProps {
  href: string;
  Icon: LucideIcon;
  onClick(): void;
  target?: string;
  children: ComponentChildren;
}

function Link({ Icon, children, ...attributes }: LinkProps) {
  return (
    <a {...attributes} role="menuitem" tabIndex={-1} class={item}>
      <Icon size={16} class="text-muted" aria-hidden="true" />
      {children}
    </a>
  );
}

function Themes() {
  const chosen = use(theme);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a menu has groups, not sets of fields.
    <div role="group" aria-label="Theme" class="my-1 flex gap-1 border-y border-line py-1">
      {themes.map(({ value, label, Icon }) => (
        <button
          key={value}
          type="button"
          role="menuitemradio"
          aria-checked={chosen === value}
          tabIndex={-1}
          class={`flex flex-1 flex-col items-center gap-1 rounded-md py-2 text-12 hover:bg-sunken ${
            chosen === value ? "bg-sunken font-medium" : "text-muted"
          }`}
          onClick={() => {
            theme.value = value;
          }}
        >
          <Icon size={16} aria-hidden="true" />
          {label}
        </button>
      ))}
    </div>
  );
}
