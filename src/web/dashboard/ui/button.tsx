/** Buttons, and links that look like them. */
import type { LucideIcon } from "lucide-preact";
import type { ComponentChildren } from "preact";

type Kind = "primary" | "secondary" | "ghost" | "risk" | "danger";

const base =
  "inline-flex shrink-0 items-center justify-center gap-2 whitespace-nowrap rounded-lg px-3.5 min-h-9 pointer-coarse:min-h-11 " +
  "text-14 font-medium disabled:opacity-55 aria-disabled:opacity-55";

const kinds: Record<Kind, string> = {
  primary: "bg-accent text-on-accent brighter",
  secondary: "border border-strong bg-card text-ink hover:bg-sunken",
  // Leads to a question first.
  risk: "border border-strong bg-card text-bad hover:bg-bad-tint",
  ghost: "text-muted hover:bg-sunken hover:text-ink",
  danger: "bg-bad text-on-bad brighter",
};

interface PressProps {
  disabled?: boolean;
  onClick?: (event: MouseEvent) => void;
  class?: string;
}

interface ButtonProps extends PressProps {
  type?: "button" | "submit";
  children: ComponentChildren;
  kind?: Kind;
  icon?: LucideIcon;
  isBusy?: boolean;
}

export function Button({ kind = "secondary", icon: Icon, isBusy = false, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      class={`${base} ${kinds[kind]} ${rest.class ?? ""}`}
      aria-busy={isBusy}
      disabled={rest.disabled === true || isBusy}
    >
      {isBusy && <Spinner />}
      {Icon && <Icon size={16} aria-hidden="true" />}
      {children}
    </button>
  );
}

interface LinkProps {
  href: string;
  kind?: Kind;
  class?: string;
  target?: string;
  children: ComponentChildren;
}

export function ButtonLink({ kind = "secondary", children, class: more = "", ...rest }: LinkProps) {
  return (
    <a {...rest} class={`${base} ${kinds[kind]} ${more}`}>
      {children}
    </a>
  );
}

interface IconButtonProps extends PressProps {
  label: string;
  icon: LucideIcon;
  /** Of the icon, in pixels. */
  size?: number;
  "aria-expanded"?: boolean;
  "aria-pressed"?: boolean;
  "aria-haspopup"?: "menu";
  "data-key"?: string;
}

export function IconButton({ label, icon: Icon, size = 18, class: more = "", ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      class={`inline-grid size-9 pointer-coarse:size-11 shrink-0 place-items-center rounded-lg text-muted hover:bg-sunken hover:text-ink ${more}`}
    >
      <Icon size={size} aria-hidden="true" />
    </button>
  );
}

export function Spinner() {
  return (
    <span
      aria-hidden="true"
      class="size-4 animate-spin rounded-full border-2 border-current border-r-transparent motion-reduce:animate-none"
    />
  );
}
