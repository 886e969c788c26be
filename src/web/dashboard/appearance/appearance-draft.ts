/** How a companion's chat is drawn, while it is edited: everything as the form has it, and what would be sent of it. */
import { contrast, isColor, textColorOn } from "../lib/color.ts";
import type { Companion } from "../lib/types.ts";

export type Appearance = NonNullable<Companion["appearance"]>;

export interface AppearanceDraft {
  theme_color: string;
  avatar_url: string;
  /** Empty: by the visitor's system. */
  theme: "" | "light" | "dark";
  /** Empty: by the language of the page. */
  position: "" | "left" | "right";
  header: "plain" | "tinted";
  icon: "chat" | "avatar";
  radius: number;
  /** Empty: none. */
  teaser: string;
  teaserSeconds: string;
  greetings: readonly { tag: string; text: string }[];
}

export const maxTeaser = 200;
const defaults = {
  ...{ theme: null, position: null, header: "plain", icon: "chat", radius: 16 },
  ...{ teaser: null, greetings: null },
} as const satisfies Appearance;

export function toAppearanceDraft({
  theme_color,
  avatar_url,
  appearance,
}: Pick<Companion, "theme_color" | "avatar_url" | "appearance">): AppearanceDraft {
  const { theme, position, header, icon, radius, teaser, greetings } = appearance ?? defaults;
  return {
    theme_color: theme_color ?? "",
    avatar_url: avatar_url ?? "",
    theme: theme === "light" || theme === "dark" ? theme : "",
    position: position ?? "",
    header: header ?? defaults.header,
    icon: icon ?? defaults.icon,
    radius: radius ?? defaults.radius,
    teaser: teaser?.text ?? "",
    teaserSeconds: String(teaser?.after_seconds ?? 5),
    greetings: Object.entries(greetings ?? {}).map(([tag, text]) => ({ tag, text })),
  };
}

/** Only for drafts without problems. */
export function toAppearanceBody(draft: AppearanceDraft) {
  const { theme, position, header, icon, radius, teaser, teaserSeconds } = draft;
  const greetings = draft.greetings
    .filter(({ text }) => text.trim() !== "")
    .map(({ tag, text }) => [tag.trim().toLowerCase(), text.trim()]);
  const appearance = {
    theme: theme === "" ? null : theme,
    position: position === "" ? null : position,
    header,
    icon,
    radius,
    teaser: teaser.trim() === "" ? null : { text: teaser.trim(), after_seconds: Number(teaserSeconds) },
    greetings: greetings.length > 0 ? (Object.fromEntries(greetings) as Record<string, string>) : null,
  };
  const isDefault = JSON.stringify(appearance) === JSON.stringify(defaults);
  return {
    theme_color: draft.theme_color === "" ? null : draft.theme_color,
    avatar_url: draft.avatar_url === "" ? null : draft.avatar_url,
    appearance: isDefault ? null : appearance,
  };
}

export type AppearanceProblems = Partial<
  Record<"theme_color" | "avatar_url" | "teaser" | "teaserSeconds" | "greetings", string>
>;

export function findAppearanceProblems(draft: AppearanceDraft): AppearanceProblems {
  const problems: AppearanceProblems = {};
  if (draft.theme_color !== "" && !isColor(draft.theme_color)) problems.theme_color = "Must look like #4f46e5.";
  if (draft.avatar_url !== "" && !/^https?:\/\/\S+$/.test(draft.avatar_url))
    problems.avatar_url = "Must begin with https:// or http://.";
  if ([...draft.teaser].length > maxTeaser) problems.teaser = `At most ${maxTeaser} characters.`;
  const seconds = Number(draft.teaserSeconds);
  if (
    draft.teaser !== "" &&
    !(draft.teaserSeconds !== "" && Number.isInteger(seconds) && seconds >= 0 && seconds <= 600)
  ) {
    problems.teaserSeconds = "Must be a whole number from 0 to 600.";
  }
  const tags = draft.greetings.map(({ tag }) => tag.trim().toLowerCase());
  const wrong = tags.find((tag) => !/^[a-z]{2,8}(-[a-z0-9]{1,8}){0,4}$/.test(tag));
  if (wrong !== undefined)
    problems.greetings =
      wrong === "" ? "Choose a language for each greeting." : `“${wrong}” is not a language tag, such as de or pt-br.`;
  else if (new Set(tags).size < tags.length) problems.greetings = "Two greetings have the same language.";
  else if (draft.greetings.some(({ text }) => [...text].length > 1000))
    problems.greetings = "At most 1,000 characters each.";
  return problems;
}

/** A sentence for owners, and whether it is a warning. */
export function judgeColor(color: string): { text: string; isWarning: boolean } | null {
  if (!isColor(color)) return null;
  const textColor = textColorOn(color);
  const ratio = contrast(color, textColor).toFixed(1);
  if (contrast(color, "#ffffff") < 1.6) {
    return { text: "Hardly visible on a white page: choose something darker.", isWarning: true };
  }
  if (contrast(color, "#000000") < 1.6) {
    return { text: "Hardly visible on a dark page: choose something lighter.", isWarning: true };
  }
  const name = textColor === "#ffffff" ? "White" : "Black";
  return { text: `${name} text on it reads well (contrast ${ratio}:1).`, isWarning: false };
}
