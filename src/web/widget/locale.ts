/** The language of the widget's texts, and the texts. */
import type { Strings } from "./strings.ts";

export interface Locale {
  /** A BCP 47 tag. */
  lang: string;
  /** Those that are not the English ones. */
  words: Partial<Strings>;
}

/** Resolves with nothing where there is neither a file nor texts of the page. Never rejects. */
export async function loadLocale(assetsUrl: string, wanted: string, overrides: string | null): Promise<Locale> {
  const base = wanted.toLowerCase().split(/[-_]/)[0] ?? "";
  const isKnown = LOCALES.split(" ").includes(base);
  let words: Partial<Strings> = {};
  try {
    words = JSON.parse(overrides || "{}");
    if (isKnown) {
      const response = await fetch(`${assetsUrl}locale-${base}.${LOCALES_HASH}.json`, { credentials: "omit" });
      words = { ...(await response.json()), ...words };
    }
  } catch (error) {
    // English is better than nothing.
    console.warn(error);
  }
  return { lang: isKnown ? wanted : "en", words };
}
