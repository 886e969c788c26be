/** The widget itself in the playground: filling its box, as wide and on such a page as the owner chooses. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { CompanionConfig } from "../../sdk/connection.ts";
import { forgetCompanion } from "../../sdk/storage.ts";
import { Problem } from "../ui/states.tsx";
import { mountWidget, type PreviewElement } from "../widget-element.ts";

/** How the page around the chat is. */
export interface Surroundings {
  theme: "light" | "dark";
  screen: "desktop" | "phone";
}

interface StageProps extends Surroundings {
  label: string;
  /** Of this chat alone: what the widget keeps is kept by it, and gone with it. */
  token: string;
  /** Null: as the answers of `fetch` have it. */
  config: CompanionConfig | null;
  fetch: PreviewElement["fetch"];
  visitorToken?: string | null;
  /** Null when it goes. */
  onElement?(element: PreviewElement | null): void;
  onMessage?(text: string): void;
}

export function ChatStage({ label, theme, screen, token, config, fetch, ...more }: StageProps) {
  const host = useRef<HTMLDivElement>(null);
  const shown = useRef<PreviewElement | null>(null);
  const latest = useRef(more);
  latest.current = more;
  const [hasFailed, setHasFailed] = useState(false);
  useEffect(() => {
    let isWanted = true;
    const mounting = mountWidget(host.current, token, (element) => {
      element.setAttribute("mode", "inline");
      element.setAttribute("theme", theme);
      element.config = config;
      element.fetch = fetch;
      const { visitorToken } = latest.current;
      if (visitorToken) element.setAttribute("visitor-token", visitorToken);
      element.addEventListener("companion:message", (event) =>
        latest.current.onMessage?.((event as CustomEvent<{ text: string }>).detail.text),
      );
    });
    mounting.then(
      (element) => {
        if (!isWanted) return element?.remove();
        shown.current = element;
        setHasFailed(false);
        latest.current.onElement?.(element);
      },
      () => setHasFailed(true),
    );
    return () => {
      isWanted = false;
      latest.current.onElement?.(null);
      shown.current?.remove();
      shown.current = null;
      forgetCompanion(token);
    };
  }, [token, fetch]);
  useEffect(() => shown.current?.setAttribute("theme", theme), [theme]);
  useEffect(() => {
    if (shown.current && config) shown.current.config = config;
  }, [config]);

  return (
    <section
      aria-label={label}
      class={`relative min-h-0 flex-1 bg-sunken ${theme === "dark" ? "scheme-dark" : "scheme-light"}`}
    >
      {hasFailed && <Problem>The chat could not be loaded. Reload the page to try again.</Problem>}
      <div
        ref={host}
        class={`absolute inset-2 mx-auto [--companion-height:100%] sm:inset-4 ${screen === "phone" ? "max-w-[22.5rem]" : "max-w-2xl"}`}
      />
    </section>
  );
}
