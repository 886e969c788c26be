/** Which language the interface speaks, and its words. */
import { english, type Strings } from "./strings.ts";

export interface Locale {
  /** A BCP 47 tag. */
  lang: string;
  strings: Strings;
}

/** Falls back to English, word by word. Never rejects. */
export async function loadLocale(assetsUrl: string, wanted: string, overrides: string | null): Promise<Locale> {
  const base = wanted.toLowerCase().split(/[-_]/)[0] ?? "";
  const isKnown = LOCALES.split(" ").includes(base);
  let strings: Partial<Strings> = {};
  try {
    strings = JSON.parse(overrides || "{}");
    if (isKnown) {
      const response = await fetch(`${assetsUrl}locale-${base}.${LOCALES_HASH}.json`, { credentials: "omit" });
      strings = { ...(await response.json()), ...strings };
    }
  } catch (error) {
    // English is better than nothing.
    console.warn(error);
  }
  return {
    lang: isKnown ? wanted : "en",
    strings: { ...english, ...strings },
  };
}
