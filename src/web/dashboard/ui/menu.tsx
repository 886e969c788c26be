/** What is seldom done, behind a button: a menu that opens below it, with the keys of menus. */
import { Ellipsis, type LucideIcon } from "lucide-preact";
import { IconButton } from "./button.tsx";
import { useMenu } from "./use-menu.ts";

export interface MenuItem {
  label: string;
  Icon: LucideIcon;
  isRisk?: boolean;
  onChoose(): void;
}

export function MoreMenu({ label, items }: { label: string; items: readonly MenuItem[] }) {
  const { isOpen, close, frame, opener } = useMenu();
  if (items.length === 0) return null;
  return (
    <div {...frame}>
      <IconButton label={label} {...opener}>
        <Ellipsis size={18} aria-hidden="true" />
      </IconButton>
      {isOpen && (
        <div
          role="menu"
          aria-label={label}
          class="absolute top-full right-0 z-20 mt-1 min-w-48 animate-[rise_140ms_ease-out] rounded-lg border border-line bg-card p-1 [box-shadow:0_12px_32px_--alpha(var(--color-shade)/16%)]"
        >
          {items.map(({ label, Icon, isRisk, onChoose }) => (
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
        </div>
      )}
    </div>
  );
}
