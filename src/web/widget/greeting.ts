/** What the companion says first, in the page's language. */
import type { CompanionConfig } from "../sdk/connection.ts";
import { english, fill, type Strings } from "./strings.ts";

/** The owner's greeting in the language of the page, or the one for all, or the interface's where the owner has none. */
export function greet({ name, greeting, appearance }: CompanionConfig, host: Element, strings: Strings): string {
  const tag = (host.getAttribute("lang") || document.documentElement.lang).toLowerCase();
  const { greetings = {} } = appearance ?? {};
  const own = greetings[tag] ?? greetings[tag.replace(/-.*/, "")] ?? greeting;
  return own === fill(english.greeting, name) ? fill(strings.greeting, name) : own;
}
