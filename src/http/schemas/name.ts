/** Names on the wire, and slugs: names that files and the server have in common. */
import { isName, maxNameLength, nameProblem } from "../../domain/name.ts";
import { Text } from "./schema.ts";

export function nameText(description: string, example: string) {
  return Text({
    minLength: 1,
    maxLength: maxNameLength,
    accepts: isName,
    problem: nameProblem,
    description: `${description} Not only white space.`,
    examples: [example],
  });
}

export function slugText(description: string, example: string) {
  return Text({
    pattern: "^[a-z0-9][a-z0-9_-]{0,62}$",
    problem: "Must be 1 to 63 of the characters a-z, 0-9, _ and -, and begin with a letter or digit.",
    description,
    examples: [example],
  });
}
