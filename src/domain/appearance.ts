/** How a companion's chat is drawn on a website: its `appearance`. */

export const appearanceThemes = ["light", "dark", "auto"] as const;
export const appearancePositions = ["right", "left"] as const;
export const appearanceHeaders = ["plain", "tinted"] as const;
export const appearanceIcons = ["chat", "avatar"] as const;

/** With every default filled in; it is stored so, in JSON. What a page's own attributes say comes first. */
export interface Appearance {
  /** Null: as the visitor's system asks. */
  theme: (typeof appearanceThemes)[number] | null;
  /** The launcher's side; null: by the direction of the page's language. */
  position: (typeof appearancePositions)[number] | null;
  header: (typeof appearanceHeaders)[number];
  icon: (typeof appearanceIcons)[number];
  /** Of the panel's corners, in pixels. */
  radius: number;
  /** A line beside the closed launcher; null for none. */
  teaser: { text: string; afterSeconds: number } | null;
  /** By BCP 47 tag in lower case; null where there is none. For other languages `greeting` holds. */
  greetings: Record<string, string> | null;
}

export const appearanceDefaults = { header: "plain", icon: "chat", radius: 16 } as const;

export const maxGreetings = 40;
/** BCP 47 allows longer ones, which no page has. */
const tagPattern = /^[a-z]{2,8}(?:-[a-z0-9]{1,8}){0,4}$/i;

export const isLanguageTag = (text: string): boolean => tagPattern.test(text);
