/** The house rules as a function of the source tree, so that the rules themselves can be tested on made-up trees. */
import { posix } from "node:path";

/** Path from the repository's root to text. */
export type SourceTree = ReadonlyMap<string, string>;

const maxLines = 250;

/** What rooms may know of the sockets; anything else in these folders is an engine's business. */
const contracts = new Set([
  "src/contracts/store/store.ts",
  "src/contracts/store/engine.ts",
  "src/contracts/coordination.ts",
  "src/contracts/limiter/limiter.ts",
  "src/contracts/limiter/rules.ts",
  "src/contracts/llm/provider.ts",
  "src/contracts/llm/embeddings.ts",
  "src/contracts/voice/provider.ts",
  "src/core/voice/voice.ts",
  "src/core/voice/voice-fields.ts",
  "src/contracts/backup-storage.ts",
  "src/contracts/certificates/certificates.ts",
  "src/contracts/certificates/authority.ts",
  "src/contracts/certificates/certificate-store.ts",
]);
const contractFolder = "src/contracts/store/";
const sockets = ["store", "coordination", "limits", "llm", "voice", "backup-storage", "certificates"];
const engines = [
  "store/sqlite",
  "store/postgres",
  "coordination/memory",
  "limits/memory",
  "limits/redis",
  "llm/openai",
  "llm/demo",
  "voice/elevenlabs",
  "backup-storage/s3",
  "certificates/acme",
  "certificates/file-shelf",
  "certificates/shared-shelf",
];

/** What opens engines, for the server and for `doctor`. */
const fuseBoxes = new Set(["src/app/services.ts", "src/app/provider-checks.ts", "src/app/certificate-checks.ts"]);

/** Moves data between engines: wiring, and so far above them that it may know the schema of each. */
const copyFolder = "src/engines/store-copy/";

/** What rooms share, beside one another. */
const shared = new Set(["http", "turns", "visitors", "instances", "knowledge", "backups", "metrics", "schemas"]);

/** Where each vendor may be named. */
const vendors: readonly { name: RegExp; places: RegExp; rule: string }[] = [
  {
    name: /^(elysia|@elysiajs\/.*)$/,
    places: /^src\/(app\.ts|http\/.*)$/,
    rule: "elysia belongs in app.ts and http/",
  },
  {
    name: /^@sinclair\/typebox/,
    places: /^src\/(schemas|http|modules)\//,
    rule: "schemas belong in schemas/, http/ and modules/",
  },
  { name: /^(drizzle-orm|bun:sqlite)/, places: /^src\/store\//, rule: "SQL belongs in store/" },
  { name: /^openai/, places: /^src\/llm\/openai[^/]*\.ts$/, rule: "openai belongs in llm/openai*.ts" },
  {
    name: /^(unpdf|mammoth|linkedom|@mozilla\/readability)$/,
    places: /^src\/knowledge\/reading\/parsers\//,
    rule: "parsers belong in knowledge/reading/parsers/, which only the reading process loads",
  },
  { name: /^age-encryption$/, places: /^src\/backups\/age\.ts$/, rule: "age belongs in backups/age.ts" },
  {
    name: /^acme-client/,
    places: /^src\/certificates\/acme\//,
    rule: "acme-client belongs in certificates/acme/, which is loaded for a domain",
  },
  { name: /^bun:ffi$/, places: /^src\/lib\/c-library\.ts$/, rule: "C is loaded in lib/c-library.ts" },
  { name: /^@logtape\//, places: /^src\/lib\/log\.ts$/, rule: "the log's library belongs in lib/log.ts" },
];

/** Text that only some files may hold. */
const reserved: readonly { text: RegExp; places: RegExp; rule: string }[] = [
  {
    text: /\b(process|Bun|import\.meta)\.env\b/,
    // The snippets are programs of other servers.
    places: /^src\/(config|web\/dashboard\/visitor-keys\/snippets)\.ts$/,
    rule: "the environment is read in config.ts",
  },
  {
    text: /\bRedisClient\b/,
    places: /^src\/limits\/redis\/connection\.ts$/,
    rule: "the client of Redis is known in limits/redis/connection.ts alone",
  },
  { text: /\bprocess\.exit\b/, places: /^src\/main\.ts$/, rule: "the process is ended in main.ts" },
  {
    // Imports have rules of their own.
    text: /(?<!bun:)\bsqlite\b(?!\/)|companiond\.db\b|\b(wal|shm)\b/i,
    places: /^src\/(services\.ts|cli\/copy\.ts|store\/(sqlite|copy)\/.*)$/,
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
  const schemas = [...tree.keys()].filter((path) => /^src\/store\/\w+\/schema\//.test(path));
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
    // `export "x"` is no statement; it only looks like one inside a text.
    if (keyword === "export" && clause === "") continue;
    found.push({ specifier, isTypeOnly: /^\s*type\b/.test(clause) });
  }
  for (const [, specifier = ""] of code.matchAll(/\bimport\(\s*"([^"]+)"/g))
    found.push({ specifier, isTypeOnly: false });
  return found;
}

/** Floors of the house: 0 lib, 1 domain, 2 contracts, 3 engines, 4 rooms, 5 wiring. Null: the import is fine. */
function judgeImport(from: string, to: string, isTypeOnly: boolean): string | null {
  if (!to.startsWith("src/") || from === to) return null;
  const [fromArea = "", toArea = ""] = [areaOf(from), areaOf(to)];
  if (toArea === "reply-stream" && (fromArea === "web" || fromArea === "client")) return null;
  if (fromArea === "web") {
    const isWireType = isTypeOnly && /^src\/modules\/[^/]+\/(model|responses)\.ts$/.test(to);
    return toArea === "web" || isWireType
      ? null
      : `imports ${to}: browser code sees itself, reply-stream and wire types alone`;
  }
  // They run on other machines.
  const isApart = (area: string) => area === "client" || area === "reply-stream";
  if (isApart(fromArea) || isApart(toArea)) {
    return fromArea === toArea ? null : `imports ${to}: clients and the server never meet`;
  }
  if (toArea === "web") {
    const isBundle = to.startsWith("src/web/generated/");
    return isBundle ? null : `imports ${to}: the server embeds the generated bundles, not browser code`;
  }
  const [fromFloor, toFloor] = [floorOf(from), floorOf(to)];
  if (toFloor > fromFloor) {
    return isContractOverItsOwnParts(from, to)
      ? null
      : `imports ${to}, which is above it (floor ${fromFloor} to ${toFloor})`;
  }
  if (fromFloor === 4 && toFloor === 3) return `imports ${to}: rooms see contracts, not engines`;
  if (fromFloor === 3 && toFloor === 3) return judgeEngineImport(from, to);
  if (fromFloor === 5 && toFloor === 3 && !fuseBoxes.has(from) && !from.startsWith(copyFolder)) {
    return `imports ${to}: only services.ts, the checks for doctor and the copy between engines know engines`;
  }
  if (shared.has(fromArea) && toArea === "modules") return `imports ${to}: what rooms share knows no room`;
  if (toArea === "http" && !mayKnowHttp(from))
    return `imports ${to}: turns, visitors, metrics and services know no HTTP`;
  if (fromArea === "modules" && toArea === "modules" && roomOf(from) !== roomOf(to)) {
    return `imports ${to}: rooms never import one another`;
  }
  return null;
}

function judgeEngineImport(from: string, to: string): string | null {
  if (areaOf(from) !== areaOf(to)) return `imports ${to}: engines of different sockets never meet`;
  const isRegistry = from.endsWith("/registry.ts");
  const [fromEngine, toEngine] = [engineOf(from), engineOf(to)];
  if (isRegistry || toEngine === null || fromEngine === toEngine) return null;
  return `imports ${to}: engines never import one another`;
}

function floorOf(path: string): number {
  const area = areaOf(path);
  if (area === "lib") return 0;
  if (area === "domain") return 1;
  if (contracts.has(path) || path.startsWith(contractFolder)) return 2;
  if (path.startsWith(copyFolder)) return 5;
  if (sockets.includes(area)) return 3;
  if (area === "modules" || shared.has(area) || path === "src/core/dependencies.ts") return 4;
  return 5;
}

/** Rules, as against what turns requests into calls of them and what they give back into bytes. */
function mayKnowHttp(path: string): boolean {
  return (
    !/^src\/(turns|visitors|instances|metrics|schemas)\//.test(path) && !/^src\/modules\/[^/]+\/service\.ts$/.test(path)
  );
}

/** A contract that comes with logic of its own keeps it in files beside it. */
function isContractOverItsOwnParts(from: string, to: string): boolean {
  return floorOf(from) === 2 && floorOf(to) === 3 && areaOf(from) === areaOf(to) && engineOf(to) === null;
}

function areaOf(path: string): string {
  return path.split("/").length > 2 ? (path.split("/")[1] ?? "") : "wiring";
}

function roomOf(path: string): string {
  return path.split("/")[2] ?? "";
}

/** The engine that a file belongs to, or null for what the engines of a socket share. */
function engineOf(path: string): string | null {
  return engines.find((engine) => new RegExp(`^src/${engine}([-./]|$)`).test(path)) ?? null;
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

/** Good enough for our own formatted sources: texts that look like comments lose their ends, which no rule minds. */
function stripComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}
