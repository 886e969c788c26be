/** Runs scripts on SQLite: each within one turn of the event loop. */
import type { SQLQueryBindings } from "bun:sqlite";
import type { changes } from "../store-shared/scripts/changes.ts";
import {
  type Insertion,
  insertionOf,
  type Script,
  type ScriptRunner,
  type Statement,
  type Step,
} from "../store-shared/scripts/script.ts";
import type { voiceAgents } from "../store-shared/scripts/voice-agents.ts";
import type { Query, SqliteEngine } from "./engine.ts";

/** Parts of scripts, as functions that may be called inside a read or a write. */
export type Bound<Parts> = {
  [Name in keyof Parts]: Parts[Name] extends (...of: infer Of) => Script<infer Result> ? (...of: Of) => Result : never;
};

export type ChangeRecorder = Bound<typeof changes>;
export type VoiceAgentScripts = Bound<typeof voiceAgents>;

export interface SqliteScripts extends ScriptRunner {
  /** For code of this engine that uses what is written as scripts. */
  bind<Parts extends object>(parts: Parts): Bound<Parts>;
}

/** From PostgreSQL's dialect. */
export function translate(text: string): string {
  return text
    .replace(/= ANY \((\$\d+)(::\w+\[\])+\)/g, "IN (SELECT value FROM json_each($1))")
    .replace(/unnest\((\$\d+)::\w+\[\]\) AS (\w+)\((\w+)\)/g, "(SELECT value AS $3 FROM json_each($1)) AS $2")
    .replace(/ FOR (NO KEY UPDATE|UPDATE|SHARE|KEY SHARE)( OF \w+)?( SKIP LOCKED)?/g, "")
    .replace(/\$(\d+)/g, "?$1");
}

export function createSqliteScripts(engine: SqliteEngine): SqliteScripts {
  const queries = new Map<string, Query<unknown, SQLQueryBindings[]>>();

  function send({ returns, text, parameters }: Statement): unknown {
    if (returns === "nothing") return null;
    let query = queries.get(text);
    if (query === undefined) {
      query = engine.query(() => translate(text));
      queries.set(text, query);
    }
    const values = parameters.map((value) => (Array.isArray(value) ? JSON.stringify(value) : value));
    if (returns === "rows") return query.all(...(values as SQLQueryBindings[]));
    return returns === "row"
      ? query.get(...(values as SQLQueryBindings[]))
      : query.run(...(values as SQLQueryBindings[]));
  }

  function insert({ table, rows, ending }: Insertion): unknown[] {
    const fields = Object.keys(rows[0] ?? {});
    const text = insertionOf(table, fields, ending);
    return rows.flatMap((row) => {
      return send({ returns: "rows", text, parameters: fields.map((field) => row[field] ?? null) });
    });
  }

  function take(step: Step): unknown {
    if (typeof step === "function") return step(undefined as never);
    if ("rows" in step) return insert(step);
    return "text" in step ? send(step) : step.map(send);
  }

  function finish<Result>(script: Script<Result>): Result {
    for (let next = script.next(); ; next = script.next(take(next.value))) if (next.done) return next.value;
  }

  const write = <Result>(script: () => Script<Result>) => engine.write(() => finish(script()));
  const read = <Result>(script: () => Script<Result>) => engine.read(() => finish(script()));
  const change = <Result>(_: string, script: () => Script<Result>) => write(script);
  return {
    read,
    readHeavy: read,
    write,
    writeHeavy: write,
    writeInOrder: change,
    append: (script) => engine.append(() => finish(script())),
    change,
    changeHeavy: change,
    bind(parts) {
      const bound = Object.entries(parts).map(([name, part]) => [name, (...of: unknown[]) => finish(part(...of))]);
      return Object.fromEntries(bound);
    },
  };
}
