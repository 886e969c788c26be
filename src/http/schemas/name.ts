/** Names on the wire. */
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
