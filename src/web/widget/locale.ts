/** Which language the interface speaks, and its words. */
import { english, type Strings } from "./strings.ts";

export interface Locale {
  /** A BCP 47 tag. */
  lang: string;
  dir: "ltr" | "rtl";
  strings: Strings;
}

/** Falls back to English, word by word. Never rejects. */
export async function loadLocale(assetsUrl: string, wanted: string, overrides: string | null): Promise<Locale> {
  const base = wanted.toLowerCase().split(/[-_]/)[0] ?? "";
  const isKnown = LOCALES.split(" ").includes(base);
  let strings: Partial<Strings> = {};
  if (isKnown) {
    const url = `${assetsUrl}locale-${base}.${LOCALES_HASH}.json`;
    try {
      strings = await (await fetch(url, { credentials: "omit" })).json();
    } catch {
      // English is better than nothing.
    }
  }
  return {
    lang: isKnown ? wanted : "en",
    dir: /^(ar|he)$/.test(base) ? "rtl" : "ltr",
    strings: { ...english, ...strings, ...parseOverrides(overrides) },
  };
}

function parseOverrides(text: string | null): Partial<Strings> {
  if (!text) return {};
  try {
    const parsed: unknown = JSON.parse(text);
    return Object.fromEntries(Object.entries(Object(parsed)).filter(([, value]) => typeof value === "string"));
  } catch {
    console.warn("companion-chat: the attribute strings is not JSON.");
    return {};
  }
}
