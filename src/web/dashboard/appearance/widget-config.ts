/** What the widget is configured with where the dashboard shows it. */
import type { CompanionConfig } from "../../sdk/connection.ts";
import { avatarImage, defaultThemeColor, isColor } from "../lib/color.ts";
import type { Companion } from "../lib/types.ts";
import { type AppearanceDraft, toAppearanceBody } from "./appearance-draft.ts";

/** As the server would make it of the companion, drawn as the draft has it. */
export function toWidgetConfig(
  companion: Companion,
  draft: AppearanceDraft,
  { hasVoice }: { hasVoice: boolean },
): CompanionConfig {
  const color = isColor(draft.theme_color) ? draft.theme_color : defaultThemeColor;
  const { appearance } = toAppearanceBody(draft);
  return {
    name: companion.name,
    avatar_url: /^https?:\/\/\S+$/.test(draft.avatar_url)
      ? draft.avatar_url
      : (companion.avatar?.url ?? avatarImage(companion.name, color)),
    greeting: companion.greeting?.trim() || `Hi, I'm ${companion.name}. How can I help you?`,
    theme_color: color,
    has_voice: hasVoice,
    has_text_agent: true,
    voice_provider: "none",
    starters: companion.starters,
    ...(appearance && { appearance: onlySet(appearance) }),
  };
}

/** As the configuration has it: what is not set is left out. */
function onlySet<Value extends object>(value: Value): { [Key in keyof Value]?: NonNullable<Value[Key]> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null)) as ReturnType<
    typeof onlySet<Value>
  >;
}
