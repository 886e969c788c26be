/** `companiond export`: writes an account's companions as files, which apply as unchanged. */
import { defaultSet } from "../api/companions/apply/model.ts";
import type { JsonValue } from "../domain/json.ts";
import { CommandFailure, directory, free, singleCommand } from "./command.ts";
import { toFiles } from "./companion-sets/export-files.ts";
import { prepareTarget, targetOptions } from "./companion-sets/open-target.ts";
import type { SetTarget } from "./companion-sets/target.ts";
import { writeFolder } from "./companion-sets/written-folder.ts";

/** Of those that are left out. */
const maxNamed = 20;

export const exportCommand = singleCommand({
  name: "export",
  about: "Write companions that have a slug as files, which apply as unchanged.",
  data: "reads",
  options: {
    directory: { value: directory, short: "d", about: "Where the files are written.", isRequired: true },
    slug: { value: free("slug"), about: "Only this companion.", isRepeatable: true },
    ...targetOptions,
  },
  async run(input) {
    const { args, io } = input;
    const target = await prepareTarget(input)(null);
    const { slugs, leftOut } = await chooseSlugs(target, args.list("slug"));
    const files = new Map<string, string>();
    const sets = new Set<string>();
    for (const slug of slugs) {
      const found = await target.find(slug);
      if (found === null) throw new CommandFailure(`there is no companion with the slug ${JSON.stringify(slug)}.`);
      const companion = { ...found.companion, slug };
      for (const [name, text] of await toFiles({ ...found, companion })) files.set(name, text);
      if (found.set !== null) sets.add(found.set);
    }
    const isAll = args.list("slug").length === 0;
    // A slug has no dot.
    const concerns = (name: string) => isAll || slugs.includes(name.split(".", 1)[0] ?? "");
    const { written, deleted } = writeFolder(args.text("directory"), files, concerns);
    for (const name of leftOut.slice(0, maxNamed)) {
      await io.writeError(`companiond: ${JSON.stringify(name)} has no slug and is left out.\n`);
    }
    if (leftOut.length > maxNamed) {
      await io.writeError(`companiond: ${leftOut.length - maxNamed} more have no slug.\n`);
    }
    const json: JsonValue = {
      ...{ slugs: [...slugs], written: [...written], deleted: [...deleted] },
      ...{ left_out: [...leftOut], sets: [...sets].sort() },
    };
    const parts = [`${slugs.length} companions`, `${written.length} files written`, `${deleted.length} deleted`];
    return { json, text: `Exported ${parts.join(", ")}.${describeSets([...sets].sort())}` };
  },
});

/** What to apply them with, where that is not what holds by default. */
function describeSets(sets: readonly string[]): string {
  if (sets.every((set) => set === defaultSet)) return "";
  if (sets.length === 1) return `\nThey belong to a set: apply them with --set ${sets[0]}.`;
  return `\nThey belong to several sets (${sets.join(", ")}): export each with --slug to a folder of its own.`;
}

/** Also what a server sends becomes the names of files. */
const slugForm = /^[a-z0-9][a-z0-9_-]{0,62}$/;

async function chooseSlugs(target: SetTarget, named: readonly string[]) {
  const all = named.length > 0 ? [] : await target.listNames();
  const slugs = [...new Set([...named, ...all.flatMap(({ slug }) => slug ?? [])])].sort();
  const wrong = slugs.find((slug) => !slugForm.test(slug));
  if (wrong !== undefined) throw new CommandFailure(`${JSON.stringify(wrong)} is no slug.`);
  return { slugs, leftOut: all.flatMap(({ slug, name }) => (slug === null ? [name] : [])) };
}
