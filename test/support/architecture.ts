/** The house rules as a function of the source tree, so that the rules themselves can be tested on made-up trees. */
import { posix } from "node:path";

/** Path from the repository's root to text. */
export type SourceTree = ReadonlyMap<string, string>;

const maxLines = 250;

/** Folders at the top of `src`, from the leaves to the wiring. Those that stand apart have none. */
const floors: Readonly<Record<string, number>> = {
  lib: 0,
  domain: 1,
  contracts: 2,
  engines: 3,
  core: 4,
  http: 4,
  api: 4,
  app: 5,
  server: 5,
  cli: 5,
  config: 5,
};

/** Moves data between engines: wiring, and so far above them that it may know the tables of each. */
const copyFolder = "src/engines/store-copy/";

/** What both databases share. */
const sharedEngine = "store-shared";

/** Lists what modules may use, as types, so that it may import all of them. */
const dependencies = "src/core/dependencies.ts";

/** Where each vendor may be named. */
const vendors: readonly { name: RegExp; places: RegExp; rule: string }[] = [
  {
    name: /^(elysia|@elysiajs\/.*)$/,
    places: /^src\/(app|http)\//,
    rule: "elysia belongs in app/ and http/",
  },
  {
    name: /^@sinclair\/typebox/,
    places: /^src\/(http|api)\//,
    rule: "schemas belong in http/ and api/",
  },
  {
    name: /^(drizzle-orm|bun:sqlite)/,
    places: /^src\/engines\/(sqlite|postgres|store-shared|store-copy)\//,
    rule: "SQL belongs in the databases' engines",
  },
  { name: /^openai/, places: /^src\/engines\/openai\//, rule: "openai belongs in engines/openai/" },
  {
    name: /^(unpdf|mammoth|linkedom|@mozilla\/readability)$/,
    places: /^src\/core\/knowledge\/reading\/parsers\//,
    rule: "parsers belong in core/knowledge/reading/parsers/, which only the reading process loads",
  },
  { name: /^age-encryption$/, places: /^src\/core\/backups\/age\.ts$/, rule: "age belongs in core/backups/age.ts" },
  {
    name: /^acme-client/,
    places: /^src\/engines\/acme\//,
    rule: "acme-client belongs in engines/acme/, which is loaded for a domain",
  },
  { name: /^nodemailer/, places: /^src\/engines\/smtp\//, rule: "nodemailer belongs in engines/smtp/" },
  {
    name: /^yaml$/,
    places: /^src\/core\/companion-files\/(yaml-documents|write-yaml|append-yaml)\.ts$/,
    rule: "YAML belongs in core/companion-files/, in files that are loaded for YAML alone",
  },
  {
    name: /^diff$/,
    places: /^src\/cli\/companion-sets\/plan-text\.ts$/,
    rule: "diffs belong in cli/companion-sets/plan-text.ts",
  },
  { name: /^re2js$/, places: /^src\/lib\/linear-pattern\.ts$/, rule: "RE2 belongs in lib/linear-pattern.ts" },
  { name: /^bun:ffi$/, places: /^src\/lib\/c-library\.ts$/, rule: "C is loaded in lib/c-library.ts" },
  { name: /^@logtape\//, places: /^src\/lib\/log\.ts$/, rule: "the log's library belongs in lib/log.ts" },
];

/** Text that only some files may hold. */
const reserved: readonly { text: RegExp; places: RegExp; rule: string }[] = [
  {
    text: /\b(process|Bun|import\.meta)\.env\b/,
    // The snippets are programs of other servers.
    places: /^src\/(config\/config|web\/dashboard\/visitor-keys\/snippets)\.ts$/,
    rule: "the environment is read in config/config.ts",
  },
  {
    text: /\bRedisClient\b/,
    places: /^src\/engines\/redis\/connection\.ts$/,
    rule: "the client of Redis is known in engines/redis/connection.ts alone",
  },
  { text: /\bprocess\.exit\b/, places: /^src\/main\.ts$/, rule: "the process is ended in main.ts" },
  {
    // Imports have rules of their own.
    text: /(?<!bun:)\bsqlite\b(?!\/)|companiond\.db\b|\b(wal|shm)\b/i,
    places: /^src\/(app\/storage\.ts|cli\/copy\.ts|engines\/(sqlite|store-copy)\/.*)$/,
    rule: "an engine's files are known in its folder alone",
  },
];

/** One sentence per violation, each beginning with the file's path. */
export function findViolations(tree: SourceTree, clientEntries: readonly string[]): string[] {
  const violations: string[] = [];
  for (const [path, text] of tree) {
    const code = stripComments(text);
    const refuse = (rule: string) => violations.push(`${path}: ${rule}`);
    if (!text.startsWith("/**")) refuse("does not open with a sentence that says what it is for");
    const lines = text.split("\n").length - 1;
    if (lines > maxLines) refuse(`has ${lines} lines, more than ${maxLines}`);
    for (const { text: pattern, places, rule } of reserved) {
      if (pattern.test(code) && !places.test(path)) refuse(rule);
    }
    for (const { specifier, isTypeOnly } of findImports(text)) {
      if (specifier.startsWith(".")) {
        const problem = judgeImport(path, resolveImport(path, specifier), isTypeOnly);
        if (problem !== null) refuse(problem);
        continue;
      }
      for (const { name, places, rule } of path.startsWith("src/web/") ? [] : vendors) {
        if (name.test(specifier) && !places.test(path)) refuse(`imports ${specifier}: ${rule}`);
      }
    }
  }
  // The migration generator reads the schemas.
  const schemas = [...tree.keys()].filter((path) => /^src\/engines\/\w+\/schema\//.test(path));
  for (const path of findUnreachable(tree, ["src/main.ts", ...clientEntries, ...schemas])) {
    violations.push(`${path}: nothing that runs imports it`);
  }
  return violations;
}

interface Import {
  specifier: string;
  isTypeOnly: boolean;
}

export function findImports(text: string): Import[] {
  const found: Import[] = [];
  const code = stripComments(text);
  for (const [, keyword, clause = "", specifier = ""] of code.matchAll(
    /^\s*(import|export)\b((?:[^"';]*?\bfrom)?)\s*"([^"]+)"/gm,
  )) {
    // `export "x"` is no statement; it only resembles one inside a text.
    if (keyword === "export" && clause === "") continue;
    found.push({ specifier, isTypeOnly: /^\s*type\b/.test(clause) });
  }
  for (const [, specifier = ""] of code.matchAll(/\bimport\(\s*"([^"]+)"/g))
    found.push({ specifier, isTypeOnly: false });
  return found;
}

/** Floors of the house: 0 lib, 1 domain, 2 contracts, 3 engines, 4 modules, 5 wiring. Null: the import is fine. */
function judgeImport(from: string, to: string, isTypeOnly: boolean): string | null {
  if (!to.startsWith("src/") || from === to) return null;
  const [fromArea, toArea] = [areaOf(from), areaOf(to)];
  if (toArea === "reply-reader" && (fromArea === "web" || fromArea === "client")) return null;
  if (fromArea === "web") {
    const isWireType = isTypeOnly && /^src\/api\/[^/]+\/([a-z]+-)?(model|responses)\.ts$/.test(to);
    return toArea === "web" || isWireType
      ? null
      : `imports ${to}: browser code sees itself, reply-reader and wire types alone`;
  }
  // They run on other machines.
  const isApart = (area: string) => area === "client" || area === "reply-reader";
  if (isApart(fromArea) || isApart(toArea)) {
    return fromArea === toArea ? null : `imports ${to}: clients and the server never meet`;
  }
  if (toArea === "web") {
    const isBundle = to.startsWith("src/web/generated/");
    return isBundle ? null : `imports ${to}: the server embeds the generated bundles, not browser code`;
  }
  const [fromFloor, toFloor] = [floorOf(from), floorOf(to)];
  if (toFloor > fromFloor) return `imports ${to}, which is above it (floor ${fromFloor} to ${toFloor})`;
  if (toFloor === 3) return judgeEngineImport(from, to);
  return fromFloor === 4 && toFloor === 4 ? judgeRoomImport(from, to, isTypeOnly) : null;
}

function judgeEngineImport(from: string, to: string): string | null {
  if (areaOf(from) !== "engines") {
    return areaOf(from) === "app" ? null : `imports ${to}: only app/ and the copy between engines know engines`;
  }
  if (from.startsWith(copyFolder) || partOf(from) === partOf(to) || partOf(to) === sharedEngine) return null;
  return `imports ${to}: engines never import one another`;
}

function judgeRoomImport(from: string, to: string, isTypeOnly: boolean): string | null {
  const [fromArea, toArea] = [areaOf(from), areaOf(to)];
  if (toArea === "api" && fromArea !== "api") return `imports ${to}: what resources share knows none of them`;
  if (toArea === "api" && partOf(from) !== partOf(to)) return `imports ${to}: resources never import one another`;
  const isRule = fromArea === "core" || /^src\/api\/[^/]+\/service\.ts$/.test(from);
  const mayListTypes = from === dependencies && isTypeOnly;
  const isHttp = toArea === "http" && !to.startsWith("src/http/schemas/");
  if (isHttp && isRule && !mayListTypes) return `imports ${to}: core/ and services know no HTTP`;
  return null;
}

/** What is at the top of `src` itself is wiring. */
function floorOf(path: string): number {
  return path.startsWith(copyFolder) ? 5 : (floors[areaOf(path)] ?? 5);
}

function areaOf(path: string): string {
  return path.split("/")[1] ?? "";
}

/** The resource, or the engine. */
function partOf(path: string): string {
  return path.split("/")[2] ?? "";
}

function findUnreachable(tree: SourceTree, entries: readonly string[]): string[] {
  const reached = new Set<string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const text = tree.get(path);
    if (text === undefined || reached.has(path)) continue;
    reached.add(path);
    for (const { specifier } of findImports(text)) {
      if (specifier.startsWith(".")) waiting.push(resolveImport(path, specifier));
    }
  }
  return [...tree.keys()].filter((path) => !reached.has(path) && !path.endsWith(".d.ts"));
}

export function resolveImport(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier);
}

/** Good enough for our own formatted sources: texts in the form of comments lose their ends, which no rule minds. */
function stripComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}
