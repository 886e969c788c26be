/** The companion as visitors will see it, in the very widget, while it is still being edited. */
import { useEffect, useRef } from "preact/hooks";
import { avatarImage } from "../lib/color.ts";
import { useSettled } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import { use } from "../lib/state.ts";
import { isDark, theme } from "../lib/theme.ts";
import { type Draft, shownColor } from "./draft.ts";

/** Nobody's token: nothing is sent with it. */
const token = "preview";
const configKey = `companion:${token}:config`;

let loading: Promise<unknown> | null = null;

function loadWidget(): Promise<unknown> {
  // The path is built at run time, so that the bundler does not include the file.
  loading ??= import(`${location.origin}/widget.js`);
  return loading;
}

export function Preview({ draft }: { draft: Draft }) {
  const { server } = useSession();
  const host = useRef<HTMLDivElement>(null);
  const name = draft.name.trim() || "Ada";
  const color = shownColor(draft);
  const config = JSON.stringify({
    name,
    avatar_url: /^https?:\/\/\S+$/.test(draft.avatar_url) ? draft.avatar_url : avatarImage(name, color),
    greeting: draft.greeting.trim() || `Hi, I'm ${name}. How can I help you?`,
    theme_color: color,
    has_voice: draft.voice !== "none" && server.has_voice_provider,
    has_text_agent: true,
    voice_provider: "none",
    starters: draft.starters.filter((starter) => starter.trim() !== ""),
  });
  const settled = useSettled(config, 120);
  const shade = use(theme);

  useEffect(() => {
    let isWanted = true;
    loadWidget().then(
      () => {
        if (!isWanted || !host.current) return;
        const element = document.createElement("companion-chat");
        element.setAttribute("mode", "inline");
        element.setAttribute("token", token);
        element.setAttribute("base-url", location.origin);
        element.setAttribute("theme", shade === "system" ? "" : isDark() ? "dark" : "light");
        element.style.setProperty("--companion-height", "34rem");
        // The widget looks there for a stored configuration as soon as it is on the page: it finds the draft, and makes
        // no request.
        const kept = { at: Date.now(), from: location.origin, config: JSON.parse(settled) };
        localStorage.setItem(configKey, JSON.stringify(kept));
        host.current.replaceChildren(element);
        localStorage.removeItem(configKey);
      },
      () => {
        loading = null;
      },
    );
    return () => {
      isWanted = false;
    };
  }, [settled, shade]);

  return (
    <section aria-label="Preview">
      <h2 class="mb-2 text-[0.86rem] font-medium text-muted">Preview</h2>
      {/* To be looked at: the playground is there to talk to it. */}
      <div ref={host} inert class="min-h-[34rem] overflow-hidden rounded-[18px]" />
    </section>
  );
}
