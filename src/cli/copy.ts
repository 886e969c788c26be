/** `companiond copy`: moves a stopped installation to the other storage engine. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { databaseUrl } from "../config/server-urls.ts";
import { BadValue } from "../config/values.ts";
import type { CopyObserver, CopyReport, StoreLocation } from "../engines/store-copy/copy.ts";
import { formatList } from "./columns.ts";
import { type ActionInput, type ActionResult, free, Misuse, singleCommand, type Value } from "./command.ts";
import { createProgress, type Progress } from "./progress.ts";

const forms = "sqlite:<directory>, sqlite, postgres://USER:PASSWORD@HOST/DATABASE or postgres";

const choices = ["postgres", "sqlite", "sqlite:"];
const source: Value = { ...free("source"), choices };
const target: Value = { ...free("target"), choices };

const notes = `<source> and <target> are one of each:
  sqlite:<directory>, postgres://…   this data directory, this database
  sqlite, postgres                   the data directory and the DATABASE_URL of the configuration

Write postgres rather than a URL with a password, which every user of the machine could read in the list of processes.
Stop all servers of both first. The target must be new or empty. An interrupted copy goes on when the same command is
run again; until it has ended, no server and no other command uses the target. The source is only read.`;

export const copyCommand = singleCommand(
  {
    name: "copy",
    about: "Copy all data from a data directory to PostgreSQL, or back, and check it; servers must be stopped.",
    data: "makes",
    opensAsCaller: true,
    options: {
      from: { value: source, about: "What to copy.", isRequired: true },
      to: { value: target, about: "Where to.", isRequired: true },
    },
    run: copy,
  },
  () => notes,
);

async function copy(input: ActionInput): Promise<ActionResult> {
  const [from, to] = [readLocation(input, "from"), readLocation(input, "to")];
  if (from.engine === to.engine) {
    throw new Misuse("copy moves data to the other engine: one of --from and --to is sqlite, the other postgres.");
  }
  for (const store of [from, to]) if (store.engine === "sqlite") input.io.user.enter(store.dataDir);
  input.io.user.settle();
  // Loaded only here: it knows both engines.
  const { copyStore } = await import("../engines/store-copy/copy.ts");
  const startedMs = performance.now();
  const report = await withProgress(input, (observer) => copyStore({ from, to, observer }));
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  return {
    json: {
      from: report.from,
      to: report.to,
      resumed_at: report.resumedAt,
      seconds,
      tables: report.tables.map((table) => ({ ...table })),
    },
    text: describe(report, seconds, from),
  };
}

function readLocation(input: ActionInput, option: "from" | "to"): StoreLocation {
  const text = input.args.text(option);
  if (text === "sqlite") return { engine: "sqlite", dataDir: input.loadConfig().dataDir };
  if (text.startsWith("sqlite:") && text !== "sqlite:") {
    return { engine: "sqlite", dataDir: resolve(text.slice("sqlite:".length)) };
  }
  if (text === "postgres") {
    const { database } = input.loadConfig();
    if (database !== null) return { engine: "postgres", url: database.url };
    throw new Misuse(`--${option} postgres needs DATABASE_URL, in the environment or in --env-file.`);
  }
  // Not quoted: it may be a URL with a mistake and a password in it.
  if (!/^postgres(ql)?:/.test(text)) throw new Misuse(`--${option} must be ${forms}.`);
  try {
    return { engine: "postgres", url: databaseUrl(text) };
  } catch (error) {
    if (error instanceof BadValue) throw new Misuse(`--${option} ${error.message}`);
    throw error;
  }
}

/** A bar at a terminal; otherwise lines, unless the output is JSON. */
async function withProgress<Result>(
  { io, isJson }: ActionInput,
  work: (observer: CopyObserver) => Promise<Result>,
): Promise<Result> {
  let progress: Progress | null = null;
  const observer: CopyObserver = {
    onBegin: (rows) => {
      progress = createProgress(io, rows);
    },
    onRows: (rows) => progress?.advance(rows),
    onTable(table, rows, step) {
      if (!io.isTerminal && !isJson) void io.writeError(`${step} ${rows} rows of ${table}\n`);
    },
  };
  try {
    return await work(observer);
  } finally {
    await (progress as Progress | null)?.clear();
  }
}

function describe({ from, to, resumedAt, tables }: CopyReport, seconds: number, source: StoreLocation): string {
  const rows = tables.map(({ table, rows, checksum }) => [table, String(rows), checksum]);
  const total = tables.reduce((sum, { rows }) => sum + rows, 0);
  const replaced = tables.reduce((sum, { replaced }) => sum + replaced, 0);
  return [
    formatList(["table", "rows", "checksum"], rows, ""),
    "",
    `Copied ${total} rows from ${from} to ${to} in ${seconds} s; both hold the same.`,
    ...(resumedAt === 0 ? [] : [`${resumedAt} of them had been copied before.`]),
    ...(replaced === 0 ? [] : [`In ${replaced} texts NUL, which PostgreSQL cannot hold, became U+FFFD.`]),
    ...describeNext(source),
  ].join("\n");
}

function describeNext(source: StoreLocation): string[] {
  if (source.engine === "postgres") {
    return ["Next: unset DATABASE_URL, and leave COMPANIOND_SECRET_KEY as it is: it opens what is sealed in the data."];
  }
  const key = join(source.dataDir, "secret.key");
  if (existsSync(key)) {
    return [`Next: set DATABASE_URL, and COMPANIOND_SECRET_KEY to the content of ${key}, which opens what is sealed.`];
  }
  return [
    "Next: set DATABASE_URL, and COMPANIOND_SECRET_KEY to what it was, which opens what is sealed in the data. If there was",
    'none, take what "openssl rand -base64 32" prints.',
  ];
}
