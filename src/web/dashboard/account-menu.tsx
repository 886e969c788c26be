/** The menu of whoever is signed in: their account, the theme, help, and the way out. */
import { ChevronsUpDown, CircleHelp, LogOut, type LucideIcon, Monitor, Moon, Sun, UserRound } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { toSentence } from "./lib/api.ts";
import { signOut, useSession } from "./lib/session.ts";
import { use } from "./lib/state.ts";
import { type Theme, theme } from "./lib/theme.ts";
import { say } from "./ui/toast.tsx";

const themes: readonly { value: Theme; label: string; Icon: LucideIcon }[] = [
  { value: "light", label: "Light", Icon: Sun },
  { value: "dark", label: "Dark", Icon: Moon },
  { value: "system", label: "System", Icon: Monitor },
];
const item = "flex w-full items-center gap-3 rounded-md px-2 py-2 text-left hover:bg-sunken pointer-coarse:py-3";

export function AccountMenu() {
  const { account, member } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const items = () => [...(frame.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
  const close = () => {
    setIsOpen(false);
    frame.current?.querySelector("button")?.focus();
  };

  // Before the next key is handled.
  useLayoutEffect(() => {
    if (!isOpen) return;
    items()[0]?.focus();
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !frame.current?.contains(target)) setIsOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, [isOpen]);

  function steer(event: KeyboardEvent): void {
    if (!isOpen) return;
    const all = items();
    const at = all.findIndex((one) => one === document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Tab") setIsOpen(false);
    if (event.key === "Escape") close();
    if (next !== undefined) all.at(next % all.length)?.focus();
    // The drawer, in which this menu stands on phones, stays open.
    if (next !== undefined || event.key === "Escape") event.preventDefault();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the menu in it.
    <div ref={frame} class="relative" onKeyDown={steer}>
      {isOpen && (
        <div
          role="menu"
          aria-label="Account"
          class="absolute inset-x-0 bottom-full z-10 mb-2 animate-[rise_140ms_ease-out] rounded-lg border border-line bg-card p-1 [box-shadow:0_12px_32px_--alpha(var(--color-shade)/16%)]"
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
      <button
        type="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        class="flex w-full items-center gap-2 rounded-lg p-2 text-left hover:bg-sunken"
        onClick={() => setIsOpen(!isOpen)}
      >
        <span
          aria-hidden="true"
          class="grid size-8 shrink-0 place-items-center rounded-full bg-tint font-semibold text-accent uppercase"
        >
          {account.email.slice(0, 1)}
        </span>
        <span class="min-w-0 flex-1">
          <span class="sr-only">Account: </span>
          <span class="block truncate text-13 font-medium" title={account.email}>
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
