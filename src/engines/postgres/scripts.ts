/** Runs scripts on PostgreSQL. */
import { getTableName } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { toSnakeCase } from "../../lib/field-names.ts";
import type { changes } from "../store-shared/scripts/changes.ts";
import type { Insertion, Script, ScriptRunner, Statement, Step } from "../store-shared/scripts/script.ts";
import type { PostgresEngine } from "./engine.ts";
import type { Queries, Rows } from "./queries.ts";
import { columnsOf, tables } from "./tables.ts";

/** Parts of scripts, as functions that are called with a transaction, or with what runs reads. */
export type Bound<Parts> = {
  [Name in keyof Parts]: Parts[Name] extends (...of: infer Of) => Script<infer Result>
    ? (queries: Queries, ...of: Of) => Promise<Result>
    : never;
};

export type ChangeRecorder = Bound<typeof changes>;

/** `bigint` and `numeric`, which the driver gives as text. */
const textTypes: readonly unknown[] = [20, 1700];

async function send(queries: Queries, { returns, text, parameters }: Statement): Promise<unknown> {
  if (returns === "count" || returns === "nothing") return await queries.run(text, parameters);
  const rows = (await queries.all<Record<string, unknown>>(text, parameters)) as Rows<Record<string, unknown>>;
  for (const { name, type } of rows.columns) {
    if (!textTypes.includes(type)) continue;
    for (const row of rows) if (row[name] !== null) row[name] = Number(row[name]);
  }
  return returns === "row" ? (rows[0] ?? null) : [...rows];
}

async function take(queries: Queries, step: Step): Promise<unknown> {
  if (typeof step === "function") return await step(queries as never);
  if ("rows" in step) return await send(queries, toStatement(step));
  return "text" in step ? await send(queries, step) : await Promise.all(step.map((one) => send(queries, one)));
}

async function finish<Result>(queries: Queries, script: Script<Result>): Promise<Result> {
  for (let next = script.next(); ; next = script.next(await take(queries, next.value))) {
    if (next.done) return next.value;
  }
}

/** For code of this engine that uses what is written as scripts. */
export function bindScripts<Parts extends object>(parts: Parts): Bound<Parts> {
  const bound = Object.entries(parts).map(([name, part]) => [
    name,
    (queries: Queries, ...of: unknown[]) => finish(queries, part(...of)),
  ]);
  return Object.fromEntries(bound);
}

export function createPostgresScripts(engine: PostgresEngine): ScriptRunner {
  return {
    read: (script) => finish(engine.quick, script()),
    readHeavy: (script) => finish(engine.heavy, script()),
    write: (script) => engine.write((transaction) => finish(transaction, script())),
    append: (script) => engine.write((transaction) => finish(transaction, script())),
    writeInOrder: (name, script) => engine.writeInOrder(name, (transaction) => finish(transaction, script())),
    writeHeavy: (script) => engine.writeHeavy((transaction) => finish(transaction, script())),
    change: (accountId, script) => engine.change(accountId, (transaction) => finish(transaction, script())),
    changeHeavy: (accountId, script) => engine.changeHeavy(accountId, (transaction) => finish(transaction, script())),
  };
}

/** Those that scripts insert many rows into. */
const { audit, recoveryCodes, companions, embedTokens, voiceOutbox, knowledgeDocuments } = tables;
const { toolCalls, toolCallTexts, handoffs, handoffEvents, presence, tools, knowledgeSources } = tables;
const { companionVersions, companionTexts, appliedCompanions } = tables;
const many = [audit, recoveryCodes, companions, embedTokens, voiceOutbox, knowledgeDocuments, toolCalls, toolCallTexts];
const ofVersions = [companionVersions, companionTexts, appliedCompanions];
const typesOf = new Map<string, ReadonlyMap<string, string>>(
  [...many, handoffs, handoffEvents, presence, tools, knowledgeSources, ...ofVersions].map((table) => [
    getTableName(table as unknown as PgTable),
    new Map(Object.entries(columnsOf(table)).map(([field, column]) => [field, toArrayType(column.getSQLType())])),
  ]),
);

/**
 * Inserts many rows by one array for each column: the statement is the same for any number of rows, and no matter which
 * values are null. Of one with a parameter for each value, the driver prepares another for every pattern of nulls, and
 * keeps them all.
 */
function toStatement({ table, rows, ending }: Insertion): Statement {
  const types = typesOf.get(table);
  if (types === undefined) throw new Error(`no types of ${table}`);
  const fields = Object.keys(rows[0] ?? {});
  const arrays = fields.map((field, at) => `$${at + 1}::${types.get(field)}`);
  const into = `${table} (${fields.map(toSnakeCase).join(", ")})`;
  const text = `INSERT INTO ${into} SELECT * FROM unnest(${arrays.join(", ")}) ${ending}`;
  return { returns: "rows", text, parameters: fields.map((field) => rows.map((row) => row[field] ?? null)) };
}

/** Whole numbers go as `float8`, which holds them all. */
function toArrayType(type: string): string {
  return `${type.replace(/ COLLATE .*/, "").replace("bigint", "float8")}[]`;
}
