/** The log as the program uses it, on top of LogTape: one event per line, structured fields, secrets cut out. */
import { configureSync, getLogger, type LogRecord, resetSync, type Sink } from "@logtape/logtape";

export type LogFields = Record<string, unknown>;
export type LogLevel = "debug" | "info" | "warn" | "error";

/** `event` is a fixed text; whatever varies is a field. Errors may be passed as fields. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

export interface LogOptions {
  level: LogLevel;
  /** `json`: one object a line; `text`: for people at a terminal. */
  format: "json" | "text";
  /** Takes whole lines, several at once under load. */
  write: (lines: string) => void;
}

// The last line of defence: whatever a provider or driver writes into an error message passes through here.
const secretPattern = /\b(cmp_live_|emb_|sk-|sk_|xi-|wsec_|cvtkn_|Bearer\s+)[0-9A-Za-z_.-]{8,}/g;

export function redact(text: string): string {
  return text.replace(secretPattern, "$1[redacted]");
}

/** Opens the log for the process; `flush` writes what is still held back. */
export function openLog(options: LogOptions): { log: Log; flush: () => void } {
  let held = "";
  const flush = () => {
    if (held === "") return;
    const lines = held;
    held = "";
    options.write(lines);
  };
  const format = options.format === "json" ? formatJson : formatText;
  const sink: Sink = (record) => {
    // One write for all that is logged in a turn of the event loop, instead of one system call a line.
    if (held === "") setImmediate(flush);
    held += redact(format(record));
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
  };
}

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

function plainFields(properties: Record<string, unknown>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(properties))
    plain[name] = value instanceof Error ? describeError(value) : value;
  return plain;
}

/** An error with its chain of causes; a depth limit, since causes can be circular. */
export function describeError(error: unknown, depth = 3): unknown {
  if (!(error instanceof Error))
    return typeof error === "object" ? Object.prototype.toString.call(error) : String(error);
  const cause = error.cause !== undefined && depth > 0 ? { cause: describeError(error.cause, depth - 1) } : {};
  return { name: error.name, message: error.message.slice(0, 2000), stack: error.stack?.slice(0, 4000), ...cause };
}
