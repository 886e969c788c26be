/** The script that installs a release: `deploy/install.sh`, told where the release is and whose it is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SigningKey } from "./signing.ts";

const template = join(import.meta.dir, "../../deploy/install.sh");

/** Without `baseUrl`, whoever runs it says where the files are. */
export function renderInstallScript(baseUrl: string | null, key: Pick<SigningKey, "publicPem"> | null): string {
  const [, publicKey = ""] = /^-+BEGIN PUBLIC KEY-+\n([\w+/=]+)\n-+END/.exec(key?.publicPem ?? "") ?? [];
  const values = { base_url: baseUrl ?? "", public_key: publicKey };
  let text = readFileSync(template, "utf8");
  for (const [name, value] of Object.entries(values)) {
    const line = `\n${name}=''\n`;
    if (!text.includes(line)) throw new Error(`deploy/install.sh has no line ${line.trim()}.`);
    text = text.replace(line, () => `\n${name}='${value}'\n`);
  }
  return baseUrl === null ? text : text.replaceAll("https://releases.example.com/", baseUrl);
}
