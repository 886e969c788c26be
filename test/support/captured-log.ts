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
    /** Everything logged, as one searchable text. */
    text: () => redact(JSON.stringify(events)),
    debug: note("debug"),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
    request: ({ ...fields }) => note("info")("request", fields),
  };
}

/** Keys, embed tokens and the ids of verified visitors, as the program makes them, and visitor tokens. */
const secretShape = /(?:cmp_live_|emb_)[0-9A-Za-z]{32}|(?:vsk_|sub:)[\w-]{43}|eyJ[\w-]+\.[\w-]+\.[\w-]+/;

/** Throws if the log contains a key, a token, or one of `words`: every test of a whole server ends with it. */
export function assertSilent(log: { events: LoggedEvent[] }, words: readonly string[]): void {
  // As it was logged, before the redaction of anything in the form of a secret.
  const text = JSON.stringify(log.events);
  const secret = secretShape.exec(text)?.[0];
  if (secret !== undefined) throw new Error(`the log holds ${secret}`);
  // Short words occur in any text.
  const said = words.find((word) => word.length >= 12 && text.includes(JSON.stringify(word).slice(1, -1)));
  if (said !== undefined) throw new Error(`the log holds what a visitor said: ${said}`);
}
