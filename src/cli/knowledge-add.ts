/** `companiond knowledge add`: files, pages and sitemaps for a companion, checked before any of them is added. */
import { toWireSource } from "../api/knowledge/responses.ts";
import { readSource, type SentSource } from "../api/knowledge/sent-source.ts";
import { toNewSource } from "../api/knowledge/service.ts";
import { AppError } from "../domain/errors.ts";
import { maxUploadBytes, type Source } from "../domain/knowledge.ts";
import { SentFile } from "../http/upload-body.ts";
import { formatColumns } from "./columns.ts";
import { type Action, type ActionInput, type Arguments, CommandFailure, file, free, Misuse } from "./command.ts";
import { companionOption, findOwner } from "./find-account.ts";
import { type NamedFile, openNamedFile } from "./named-file.ts";
import { readHere } from "./read-here.ts";

export const addAction: Action = {
  name: "add",
  about: "Add files (PDF, DOCX, HTML, Markdown, text, CSV) or URLs for a companion to read.",
  data: "writes",
  opensAsCaller: true,
  operands: [{ value: { ...file, shown: "<file>|<url>" }, isRepeatable: true }],
  options: {
    companion: companionOption,
    title: { value: free("text"), about: "What replies cite a file as (its name). For one file." },
    "refresh-hours": { value: free("hours"), about: "Read the URLs again every so many hours, 1 to 720." },
    sitemap: { about: "The URLs are sitemaps: read their pages." },
    queue: {
      about:
        "Only queue them: a running server reads them within an hour, or when someone opens them in the dashboard.",
    },
  },
  async run(input) {
    const { args, openStore, ids, audit } = input;
    const { operands } = args;
    checkOptions(args);
    // Read one after the other, twice: 500 files of 20 MiB would not fit into memory.
    const files = new Map(operands.filter((operand) => !isUrl(operand)).map((path) => [path, openFile(input, path)]));
    for (const operand of operands) await readOperand(operand, files.get(operand), args);
    const store = await openStore();
    const owner = await findOwner(store, args.text("companion"));
    let sources: Source[] = [];
    for (const operand of operands) {
      const source = await toNewSource({ ids }, await readOperand(operand, files.get(operand), args));
      const made = await store.knowledge.create(owner.accountId, owner.companionId, source, audit());
      if (made === null) throw new CommandFailure("the companion was deleted meanwhile.");
      sources.push(made);
    }
    if (!args.has("queue")) sources = await readHere(input, store, owner.accountId, sources);
    const rows = sources.map(({ id, title, status, error }) => [id, status, title, error ?? ""]);
    return {
      json: sources.map(toWireSource),
      text: formatColumns(rows),
      isFailure: sources.some(({ status }) => status === "failed"),
    };
  },
};

function isUrl(operand: string): boolean {
  return /^https?:\/\//i.test(operand);
}

function checkOptions({ operands, has }: Arguments): void {
  const urls = operands.filter(isUrl).length;
  if (has("title") && (operands.length > 1 || urls > 0)) throw new Misuse("--title is for one file.");
  for (const option of ["refresh-hours", "sitemap"]) {
    if (has(option) && urls < operands.length) throw new Misuse(`--${option} is for URLs only.`);
  }
}

/** Throws `CommandFailure` with the position and what is wrong with it. */
async function readOperand(operand: string, file: NamedFile | undefined, args: Arguments): Promise<SentSource> {
  try {
    return readSource(file === undefined ? toAddress(operand, args) : toUpload(operand, file, args));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const details = error.errors?.map(({ param, detail }) => `${param}: ${detail}`).join(" ");
    throw new CommandFailure(`${operand}: ${details ?? error.message}`);
  }
}

function toAddress(url: string, args: Arguments): object {
  const hours = args.find("refresh-hours");
  const refresh = hours === undefined ? {} : { refresh_hours: Number(hours) };
  return { type: args.has("sitemap") ? "sitemap" : "url", url, ...refresh };
}

/** Opens the configuration first: from there on it is known as whom files are opened. */
function openFile({ io, loadConfig }: ActionInput, path: string): NamedFile {
  loadConfig();
  const file = openNamedFile(io.user, path);
  if (file.size > maxUploadBytes) throw new CommandFailure(`${path}: larger than ${maxUploadBytes / 1024 ** 2} MiB.`);
  return file;
}

function toUpload(path: string, file: NamedFile, args: Arguments): object {
  const title = args.find("title");
  return { file: new SentFile(path, null, file.read()), ...(title === undefined ? {} : { title }) };
}
