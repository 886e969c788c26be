/**
 * Writes `src/domain/common-passwords.ts` from the list of @zxcvbn-ts/language-common (MIT). Run it by hand after an
 * update of that package; the file is committed.
 *
 *   bun scripts/build-common-passwords.ts
 */
import { join } from "node:path";
import { dictionary } from "@zxcvbn-ts/language-common";
import pkg from "../package.json";
import { shortestPassword } from "../src/domain/password.ts";

const source = `@zxcvbn-ts/language-common ${pkg.devDependencies["@zxcvbn-ts/language-common"]}`;
const lineWidth = 112;

// Shorter ones are refused anyway; words with a space could not be told apart from two words.
const kept = dictionary["passwords-common"].filter((word) => [...word].length >= shortestPassword && !/\s/.test(word));
const lines: string[] = [];
for (const word of new Set(kept.map((one) => one.toLowerCase()))) {
  const last = lines.at(-1);
  if (last === undefined || last.length + word.length >= lineWidth) lines.push(word);
  else lines[lines.length - 1] = `${last} ${word}`;
}

const code = `/** Common passwords of ${shortestPassword} characters or more, the commonest first. Made by scripts/build-common-passwords.ts of ${source} (MIT). */
export const commonPasswords = [
${lines.map((line) => `  ${JSON.stringify(line)},`).join("\n")}
];
`;
await Bun.write(join(import.meta.dir, "..", "src/domain/common-passwords.ts"), code);
console.log(`${kept.length} passwords in ${lines.length} lines.`);
