/** A log that tests can read, and search for what must never be in it. */
import { describeError, type Log, type LogFields, type LogLevel, redact } from "../../src/lib/log.ts";

export interface LoggedEvent {
  level: LogLevel;
  event: string;
  fields: LogFields;
}

export function createCapturedLog(): Log & { events: LoggedEvent[]; text(): string } {
  const events: LoggedEvent[] = [];
  const note =
    (level: LogLevel) =>
    (event: string, fields: LogFields = {}) => {
      const plain = Object.entries(fields).map(([name, value]) => [
        name,
        value instanceof Error ? describeError(value) : value,
      ]);
      events.push({ level, event, fields: Object.fromEntries(plain) });
    };
  return {
    events,
    /** All that was logged, as one searchable text. */
    text: () => redact(JSON.stringify(events)),
    debug: note("debug"),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
    request: ({ ...fields }) => note("info")("request", fields),
  };
}
