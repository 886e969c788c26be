/** The log as the program uses it, on top of LogTape: one event per line, structured fields, secrets cut out. */
import { configureSync, getLogger, type LogRecord, resetSync, type Sink } from "@logtape/logtape";
import { toSnakeCase } from "./field-names.ts";

export type LogFields = Record<string, unknown>;
export type LogLevel = "debug" | "info" | "warn" | "error";

/** `event` is a fixed text; variable parts are fields, in snake_case on the line. Errors may be passed as fields. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** The event `request`, of level info. Apart from the others, because every request pays for it. */
  request(fields: RequestFields): void;
}

/** For commands that report what went wrong themselves. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, request() {} };

/** Only for values that this program created itself: nothing here is escaped or searched for secrets. */
export interface RequestFields {
  requestId: string;
  method: string;
  /** As written in the routes; never a path, which can hold an embed token. */
  route: string;
  status: number;
  durationMs: number;
  /** The client's address, cut short. */
  client: string;
  /** Of streams alone. */
  stream?: { outcome: string; firstTextMs: number | null };
}

export interface LogOptions {
  level: LogLevel;
  /** `json`: one object a line; `text`: for people at a terminal. */
  format: "json" | "text";
  /** Begins each line with its priority as systemd's journal reads it, `<4>`; the journal takes that away again. */
  hasPriorities?: boolean;
  /** Takes whole lines, several together under load. A promise that it returns resolves when they were handed over. */
  write: (lines: string) => unknown;
}

// The last line of defence: everything that a provider or driver writes into an error message passes through here.
const secretPattern = /\b(cmp_live_|emb_|sk-|sk_|xi-|wsec_|cvtkn_|vsk_|Bearer\s+)[0-9A-Za-z_.-]{8,}/g;

export function redact(text: string): string {
  return text.replace(secretPattern, "$1[redacted]");
}

/** How long lines of requests are gathered into one write, and how many characters of them at most. */
const requestDelayMs = 50;
const heldLimit = 64 * 1024;

/** How many characters may wait for a reader who has stopped reading; what comes on top of them is lost. */
const waitingLimit = 8 * 1024 * 1024;

let takeRequest: (fields: RequestFields) => void = () => {};

/** Opens the log for the process; `flush` writes what is still held back. */
export function openLog(options: LogOptions): { log: Log; flush: () => void } {
  let held = "";
  let requestTimer: ReturnType<typeof setTimeout> | null = null;
  const flush = () => {
    if (requestTimer !== null) clearTimeout(requestTimer);
    requestTimer = null;
    if (held === "") return;
    const lines = held;
    held = "";
    void hand(lines);
  };
  let waiting = 0;
  let lostCount = 0;
  async function hand(lines: string): Promise<void> {
    if (waiting > 0 && waiting + lines.length > waitingLimit) {
      lostCount += lines.split("\n").length - 1;
      return;
    }
    waiting += lines.length;
    await options.write(lines);
    waiting -= lines.length;
    if (waiting > 0 || lostCount === 0) return;
    const count = lostCount;
    lostCount = 0;
    processLog().warn("log lines were lost: their reader was too slow", { count });
  }
  const format = options.format === "json" ? formatJson : formatText;
  const sink: Sink = (record) => {
    // One write for all that is logged in a turn of the event loop, instead of one system call a line.
    if (held === "" || requestTimer !== null) setImmediate(flush);
    held += prefixOf(record.level) + redact(format(record));
  };
  const prefixOf = (level: string) => (options.hasPriorities ? `<${priorities[level] ?? 6}>` : "");
  const requestPrefix = prefixOf("info");
  const isRequestLogged = options.level === "debug" || options.level === "info";
  const formatRequest = options.format === "json" ? formatRequestJson : formatRequestText;
  takeRequest = !isRequestLogged
    ? () => {}
    : (fields) => {
        if (held === "") requestTimer = setTimeout(flush, requestDelayMs);
        held += requestPrefix + formatRequest(fields);
        if (held.length > heldLimit) flush();
      };
  const lowestLevel = options.level === "warn" ? "warning" : options.level;
  resetSync();
  configureSync({
    sinks: { lines: sink },
    loggers: [
      { category: "companiond", sinks: ["lines"], lowestLevel },
      { category: ["logtape", "meta"], lowestLevel: "warning", sinks: ["lines"] },
    ],
  });
  return { log: processLog(), flush };
}

/** The process's log; silent until `openLog` was called. */
export function processLog(): Log {
  const logger = getLogger("companiond");
  return {
    debug: (event, fields = {}) => logger.debug(event, fields),
    info: (event, fields = {}) => logger.info(event, fields),
    warn: (event, fields = {}) => logger.warn(event, fields),
    error: (event, fields = {}) => logger.error(event, fields),
    request: (fields) => takeRequest(fields),
  };
}

/** Of syslog(3). */
const priorities: Record<string, number> = { debug: 7, info: 6, warning: 4, error: 3, fatal: 2 };

const shortLevels: Record<string, string> = { warning: "warn", fatal: "error" };

function formatJson(record: LogRecord): string {
  const line = {
    time: new Date(record.timestamp).toISOString(),
    level: shortLevels[record.level] ?? record.level,
    event: record.rawMessage,
    ...plainFields(record.properties),
  };
  return `${JSON.stringify(line)}\n`;
}

function formatText(record: LogRecord): string {
  const time = new Date(record.timestamp).toISOString().slice(11, 19);
  const level = (shortLevels[record.level] ?? record.level).toUpperCase().padEnd(5);
  const fields = Object.entries(plainFields(record.properties))
    .map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("");
  return `${time} ${level} ${String(record.rawMessage)}${fields}\n`;
}

function formatRequestJson(fields: RequestFields): string {
  const { stream } = fields;
  const streamed =
    stream === undefined
      ? ""
      : `,"outcome":"${stream.outcome}","first_text_ms":${stream.firstTextMs === null ? null : round(stream.firstTextMs)}`;
  return `{"time":"${formatNow()}","level":"info","event":"request","request_id":"${fields.requestId}","method":"${fields.method}","route":"${fields.route}","status":${fields.status},"duration_ms":${round(fields.durationMs)},"client":"${fields.client}"${streamed}}\n`;
}

function formatRequestText(fields: RequestFields): string {
  const { stream } = fields;
  const streamed = stream === undefined ? "" : ` ${stream.outcome}`;
  return `${formatNow().slice(11, 19)} INFO  ${fields.method} ${fields.route} ${fields.status}${streamed} ${round(fields.durationMs)} ms ${fields.client} ${fields.requestId}\n`;
}

let formattedMs = 0;
let formatted = "";

/** Formatting an instant costs more than the rest of a line: once a millisecond is enough. */
function formatNow(): string {
  const nowMs = Date.now();
  if (nowMs !== formattedMs) {
    formattedMs = nowMs;
    formatted = new Date(nowMs).toISOString();
  }
  return formatted;
}

/** Microseconds are as fine as the figure is true. */
function round(durationMs: number): number {
  return Math.round(durationMs * 1000) / 1000;
}

function plainFields(properties: Record<string, unknown>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(properties))
    plain[toSnakeCase(name)] = value instanceof Error ? describeError(value) : value;
  return plain;
}

/** An error with its chain of causes; a depth limit, since causes can be circular. */
export function describeError(error: unknown, depth = 3): unknown {
  if (!(error instanceof Error))
    return typeof error === "object" ? Object.prototype.toString.call(error) : String(error);
  const cause = error.cause !== undefined && depth > 0 ? { cause: describeError(error.cause, depth - 1) } : {};
  return { name: error.name, message: error.message.slice(0, 2000), stack: error.stack?.slice(0, 4000), ...cause };
}
