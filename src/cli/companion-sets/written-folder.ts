/** A folder of which an export writes some files: it knows its own by a list beside them, and touches no others. */
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import { CommandFailure } from "../command.ts";

const listName = ".companiond-export";
const header = "# Files that `companiond export` has written here: it replaces and deletes no others.\n";

export interface Written {
  readonly written: readonly string[];
  readonly deleted: readonly string[];
}

/**
 * `concerns`: whether a file that is not written any more is to be deleted. Throws `CommandFailure` with the first file that
 * is someone else's: then nothing is written.
 */
export function writeFolder(
  folder: string,
  files: ReadonlyMap<string, string>,
  concerns: (name: string) => boolean,
): Written {
  mkdirSync(folder, { recursive: true });
  const own = new Set(readOwn(folder));
  for (const name of [...files.keys(), ...own]) {
    const isOwn = own.has(name);
    const facts = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (facts === undefined || (isOwn && facts.isFile())) continue;
    throw new CommandFailure(
      `${join(folder, name)} was not written by this command. Move it, or export to another folder.`,
    );
  }
  const written = [...files].filter(([name, text]) => readText(join(folder, name)) !== text);
  const deleted = [...own].filter(
    (name) => !files.has(name) && concerns(name) && readText(join(folder, name)) !== null,
  );
  // Listed before they are there: after a crash they are still known as its own.
  replace(join(folder, listName), listText([...own, ...files.keys()]));
  for (const [name, text] of written) replace(join(folder, name), text);
  for (const name of deleted) rmSync(join(folder, name));
  const others = [...own].filter((name) => !concerns(name));
  replace(join(folder, listName), listText([...others, ...files.keys()]));
  return { written: written.map(([name]) => name), deleted };
}

function readOwn(folder: string): string[] {
  const lines = readText(join(folder, listName))?.split("\n") ?? [];
  // Names alone: a list that someone changed leads nowhere else.
  return lines.filter((line) => /^[a-z0-9][a-z0-9_.-]*$/.test(line));
}

function listText(names: readonly string[]): string {
  return (
    header +
    [...new Set(names)]
      .sort()
      .map((name) => `${name}\n`)
      .join("")
  );
}

/** Null if it is not there. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

function replace(path: string, text: string): void {
  const aside = `${path}.new`;
  rmSync(aside, { force: true });
  writeFileSync(aside, text, { flag: "wx" });
  renameSync(aside, path);
}
