/** A message to a companion, as visitors and owners send it. */
import { Nullish, Text, uuidPattern } from "./schema.ts";

export function messageText() {
  return Text({
    minLength: 1,
    maxLength: 2000,
    accepts: (text) => text.trim() !== "",
    problem: "Must be 1 to 2000 characters of well-formed text without NUL, and not only white space.",
    description: "The message: 1 to 2000 Unicode code points, not only white space.",
    examples: ["What are your opening hours?"],
  });
}

export function nullishUuid(description: string) {
  return Nullish(Text({ pattern: uuidPattern, problem: "Must be a UUID.", description }));
}
