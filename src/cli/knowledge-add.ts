/** `companiond knowledge add`: files, pages and sitemaps for a companion, checked before any of them is added. */
import { toWireSource } from "../api/knowledge/responses.ts";
import { readSource, type SentSource } from "../api/knowledge/sent-source.ts";
import { toNewSource } from "../api/knowledge/service.ts";
import { ownHostsOf } from "../app/server-settings.ts";
import type { Store } from "../contracts/store/store.ts";
import { createFetcher } from "../core/knowledge/fetching/fetcher.ts";
import { createIndexer } from "../core/knowledge/indexing/indexer.ts";
import { openDocumentReader } from "../core/knowledge/reading/reader.ts";
import { AppError } from "../domain/errors.ts";
import { maxUploadBytes, type Source } from "../domain/knowledge.ts";
import { SentFile } from "../http/upload-body.ts";
import type { Log } from "../lib/log.ts";
import { formatColumns } from "./columns.ts";
import { type Action, type ActionInput, type Arguments, CommandFailure, Misuse } from "./command.ts";
import { companionOption, findOwner, type Owner } from "./find-account.ts";
import { type NamedFile, openNamedFile } from "./named-file.ts";
import { file, free } from "./value.ts";

const lookEveryMs = 100;

/** The source has the reason why it was not read. */
const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, request: () => {} };

/**
 * Reads sources in the command that adds them, whether a server is running or not, and shows the progress. Until
 * each is `ready`, has failed, or is left for another try. A server beside it may be faster.
 */
async function readHere(
  { io, clock, loadConfig }: ActionInput,
  store: Store,
  owner: Owner,
  added: readonly Source[],
): Promise<Source[]> {
  const config = loadConfig();
  const reader = openDocumentReader(silentLog);
  const fetcher = createFetcher({ allowed: config.knowledge.privateSources, ownHosts: ownHostsOf(config) });
  // The server gives passages their vectors: it knows the provider and the budgets.
  const indexer = createIndexer({ store, reader, fetcher, embedding: null, isShared: false, clock, log: silentLog });
  indexer.wake();
  try {
    return await watch(io, async () => {
      const found = await Promise.all(
        added.map(({ id }) => store.knowledge.find(owner.accountId, owner.companionId, id)),
      );
      return found.filter((source) => source !== null);
    });
  } finally {
    // What it acquired of others is due again immediately.
    await indexer.close();
  }
}

/** Shows on standard error how far it is, if that is a terminal. */
async function watch(io: ActionInput["io"], look: () => Promise<Source[]>): Promise<Source[]> {
  let told = "";
  for (;;) {
    const sources = await look();
    const open = sources.filter(isOpen);
    const now = describe(sources.length, open);
    if (io.isTerminal && now !== told) await io.writeError(open.length > 0 ? `\r\x1b[K${now}` : "\r\x1b[K");
    told = now;
    if (open.length === 0) return sources;
    await Bun.sleep(lookEveryMs);
  }
}

function isOpen({ status, error }: Source): boolean {
  return status === "indexing" || (status === "queued" && error === null);
}

function describe(all: number, open: readonly Source[]): string {
  const pages = open.find(({ progress }) => progress !== null)?.progress;
  const rest = pages === undefined || pages === null ? "" : `, ${pages.done} of ${pages.total ?? "?"} pages`;
  return `${all - open.length} of ${all} read${rest}`;
}

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
    const places = args.operands;
    checkOptions(args);
    // Read one after the other, twice: 500 files of 20 MiB would not fit into memory.
    const files = new Map(places.filter((place) => !isUrl(place)).map((path) => [path, openFile(input, path)]));
    for (const place of places) await readPlace(place, files.get(place), args);
    const store = await openStore();
    const owner = await findOwner(store, args.text("companion"));
    let sources: Source[] = [];
    for (const place of places) {
      const source = toNewSource({ ids }, await readPlace(place, files.get(place), args));
      const made = await store.knowledge.create(owner.accountId, owner.companionId, source, audit());
      if (made === null) throw new CommandFailure("the companion was deleted meanwhile.");
      sources.push(made);
    }
    if (!args.has("queue")) sources = await readHere(input, store, owner, sources);
    const rows = sources.map(({ id, title, status, error }) => [id, status, title, error ?? ""]);
    return {
      json: sources.map(toWireSource),
      text: formatColumns(rows),
      isFailure: sources.some(({ status }) => status === "failed"),
    };
  },
};

function isUrl(place: string): boolean {
  return /^https?:\/\//i.test(place);
}

function checkOptions({ operands, has }: Arguments): void {
  const urls = operands.filter(isUrl).length;
  if (has("title") && (operands.length > 1 || urls > 0)) throw new Misuse("--title is for one file.");
  for (const option of ["refresh-hours", "sitemap"]) {
    if (has(option) && urls < operands.length) throw new Misuse(`--${option} is for URLs only.`);
  }
}

/** Throws `CommandFailure` with the position and what is wrong with it. */
async function readPlace(place: string, file: NamedFile | undefined, args: Arguments): Promise<SentSource> {
  try {
    return readSource(file === undefined ? toAddress(place, args) : toUpload(place, file, args));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const details = error.errors?.map(({ param, detail }) => `${param}: ${detail}`).join(" ");
    throw new CommandFailure(`${place}: ${details ?? error.message}`);
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
