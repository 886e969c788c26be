/** Slugs: names that files and the server have in common. */
import { Text } from "./schema.ts";

export function slugText(description: string, example: string) {
  return Text({
    pattern: "^[a-z0-9][a-z0-9_-]{0,62}$",
    problem: "Must be 1 to 63 of the characters a-z, 0-9, _ and -, and begin with a letter or digit.",
    description,
    examples: [example],
  });
}
