/** Beside a companion's settings: their sections, and which of them is in view. */
import { useEffect, useState } from "preact/hooks";
import { replaceSearch, usePath, useSearch } from "../lib/router.ts";

/** By their ids in the page and in its address. */
const sections = [
  ["profile", "Profile"],
  ["behaviour", "Behaviour"],
  ["knowledge", "Knowledge"],
  ["voice", "Voice"],
  ["websites", "Websites and retention"],
  ["visitors", "Signed-in visitors"],
  ["people", "People"],
  ["limits", "Limits"],
  ["protection", "Bot protection"],
  ["metadata", "Metadata"],
  ["files", "Files"],
  ["danger", "Danger"],
] as const;

/** How far from the top of the window the reader reads. */
const readPx = 140;

const topOf = (id: string) => document.getElementById(id)?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY;

export function SectionIndex() {
  const at = usePath();
  const asked = useSearch().get("section");
  const [current, setCurrent] = useState<string>(asked ?? "profile");
  useEffect(() => {
    if (asked === null) return;
    showSection(asked);
    setCurrent(asked);
  }, [asked]);
  useEffect(() => {
    const follow = () =>
      setCurrent((before) => {
        // The last ones do not reach the top of the window: what was asked for stays marked while it is in view.
        const top = topOf(before);
        if (before === asked && top >= 0 && top < innerHeight * 0.8) return before;
        return sections.findLast(([id]) => topOf(id) < readPx)?.[0] ?? "profile";
      });
    addEventListener("scroll", follow, { passive: true });
    return () => removeEventListener("scroll", follow);
  }, [asked]);
  return (
    <nav aria-label="Settings" class="sticky top-6 hidden lg:block">
      <ul class="space-y-0.5">
        {sections.map(([id, title]) => (
          <li key={id}>
            <a
              href={`${at}?section=${id}`}
              aria-current={current === id ? "location" : undefined}
              onClick={(event) => {
                event.preventDefault();
                if (asked === id) showSection(id);
                replaceSearch({ section: id });
              }}
              class={`block rounded-lg px-3 py-1.5 ${
                current === id ? "bg-tint font-medium text-accent" : "text-muted hover:bg-sunken hover:text-ink"
              }`}
            >
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Opens it, scrolls to it, and gives it the focus. */
function showSection(id: string): void {
  const section = document.getElementById(id);
  if (section === null) return;
  if (section instanceof HTMLDetailsElement) section.open = true;
  section.scrollIntoView();
  const target = section.querySelector<HTMLElement>("summary, h2");
  if (target?.tagName === "H2") target.tabIndex = -1;
  target?.focus({ preventScroll: true });
}
