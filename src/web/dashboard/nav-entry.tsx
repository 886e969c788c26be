/** An entry of the navigation. */
import type { LucideIcon } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { budgetsPath, usePath } from "./lib/router.ts";
import { budgetAlarm } from "./lib/session.ts";
import { use } from "./lib/state.ts";

export interface NavEntryProps {
  href: string;
  label: string;
  Icon: LucideIcon;
  aside?: ComponentChildren;
}

export function NavEntry({ href, label, Icon, aside }: NavEntryProps) {
  const at = usePath();
  const alarm = use(budgetAlarm);
  const isHere = at === href || at.startsWith(`${href}/`);
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (isHere) link.current?.scrollIntoView({ block: "nearest" });
  }, [isHere]);
  return (
    <a
      ref={link}
      href={href}
      aria-current={isHere ? "page" : undefined}
      class={`flex items-center gap-3 rounded-md px-2 py-1 text-14 font-medium pointer-coarse:py-3 ${
        isHere ? "bg-tint text-accent" : "text-muted hover:bg-sunken hover:text-ink"
      }`}
    >
      <Icon size={16} aria-hidden="true" />
      {label}
      {href === budgetsPath && alarm && <Alarm text={alarm} />}
      {aside}
    </a>
  );
}

/** Marks an entry, in words for screen readers. */
export function Alarm({ text }: { text: string }) {
  return (
    <span title={text} class="ml-auto rounded-full bg-bad-tint px-2 font-semibold text-bad">
      <span aria-hidden="true">!</span>
      <span class="sr-only">{text}</span>
    </span>
  );
}
