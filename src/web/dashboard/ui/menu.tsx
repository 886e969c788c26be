/** What is seldom done, behind a button: a menu that opens beside it, with the keys of menus. */
import { Ellipsis, type LucideIcon } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button, ButtonLink, IconButton } from "./button.tsx";
import { useMenu } from "./use-menu.ts";

export interface MenuItem {
  label: string;
  Icon: LucideIcon;
  isRisk?: boolean;
  onChoose(): void;
}

interface MoreMenuProps {
  label: string;
  items: readonly MenuItem[];
  /** Before the others, on phones only. */
  onPhone?: MenuItem | false;
}

export function MoreMenu({ label, items, onPhone = false }: MoreMenuProps) {
  const { isOpen, close, frame, opener } = useMenu();
  const all = onPhone && matchMedia("(width < 52rem)").matches ? [onPhone, ...items] : items;
  if (items.length === 0 && !onPhone) return null;
  return (
    <div {...frame}>
      <IconButton label={label} icon={Ellipsis} {...opener} />
      {isOpen && (
        <Floating label={label}>
          {all.map(({ label, Icon, isRisk, onChoose }) => (
            <button
              key={label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={`flex w-full items-center gap-3 rounded-md px-2 py-2 text-left whitespace-nowrap hover:bg-sunken pointer-coarse:py-3 ${isRisk ? "text-bad" : ""}`}
              onClick={() => {
                close();
                onChoose();
              }}
            >
              <Icon size={16} aria-hidden="true" />
              {label}
            </button>
          ))}
        </Floating>
      )}
    </div>
  );
}

interface RowActionsProps {
  /** Of the row, for screen readers. */
  name: string;
  items: readonly MenuItem[];
  /** The one button in sight; on phones, where there is no room for it, the first of the menu. */
  first?: (MenuItem & { href?: string; isBusy?: boolean }) | false;
}

/** What can be done with one row of a list. */
export function RowActions({ name, items, first = false }: RowActionsProps) {
  const words = first && (
    <>
      {first.label}
      <span class="sr-only"> {name}</span>
    </>
  );
  return (
    <div class="flex shrink-0 items-center justify-end gap-1">
      {first &&
        (first.href === undefined ? (
          <Button class="max-md:hidden" isBusy={first.isBusy === true} onClick={first.onChoose}>
            {words}
          </Button>
        ) : (
          <ButtonLink class="max-md:hidden" href={first.href}>
            {words}
          </ButtonLink>
        ))}
      <div class={items.length === 0 ? "md:hidden" : ""}>
        <MoreMenu label={`Actions for ${name}`} items={items} onPhone={first} />
      </div>
    </div>
  );
}

const gap = 4;
const edge = 8;

/** Above all else of the page, so that nothing that scrolls cuts it: below its parent, or above where there is no room. */
function Floating({ label, children }: { label: string; children: ComponentChildren }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const menu = ref.current;
    const opener = menu?.parentElement;
    if (!menu || !opener) return;
    menu.showPopover();
    const follow = () => {
      const { top, bottom, right } = opener.getBoundingClientRect();
      const { offsetHeight: height, offsetWidth: width } = menu;
      const { clientHeight, clientWidth } = document.documentElement;
      const isBelow = bottom + gap + height + edge <= clientHeight;
      menu.style.top = `${isBelow ? bottom + gap : Math.max(edge, top - gap - height)}px`;
      menu.style.left = `${Math.max(edge, Math.min(right, clientWidth - edge) - width)}px`;
    };
    follow();
    addEventListener("scroll", follow, { capture: true, passive: true });
    addEventListener("resize", follow);
    return () => {
      removeEventListener("scroll", follow, { capture: true });
      removeEventListener("resize", follow);
    };
  }, []);
  return (
    <div
      ref={ref}
      popover="manual"
      role="menu"
      aria-label={label}
      class="inset-auto m-0 min-w-48 animate-[rise_140ms_ease-out] rounded-lg border border-line bg-card p-1 text-left text-ink floating"
    >
      {children}
    </div>
  );
}
