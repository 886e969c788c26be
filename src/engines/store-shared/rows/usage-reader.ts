/** Answers questions about usage by small steps of an engine: in all, and in pages of bounded memory. */
import type { MetadataFilter } from "../../../contracts/store/companions.ts";
import type { UsagePage, UsagePageRequest, UsageQuery, UsageRow } from "../../../contracts/store/usage.ts";
import type { JsonObject } from "../../../domain/companion.ts";
import { matchesMetadata } from "./metadata-blocks.ts";
import { dimensionsOf, isMetadata, orderGroups, type UsageDimension } from "./usage-groups.ts";
import { createLabelJoin, type LabelText, type Summed } from "./usage-labels.ts";
import { createTotal, type SumRow, splitPeriod, type UsagePeriod } from "./usage-sums.ts";

export interface UsageLabel {
  number: number;
  companionId: string;
}

/** Which companions to sum; with labels, only what was recorded under these. */
export interface UsageScope {
  companionIds: readonly string[];
  labels?: readonly number[];
}

/**
 * What an engine must be able to do, each in bounded time; others get their turn in between. What comes in parts comes a
 * few milliseconds' work at a time, and the same group may be in several.
 */
export interface UsageSource {
  sumAccount(accountId: string, period: UsagePeriod, dimensions: readonly UsageDimension[]): AsyncGenerator<SumRow[]>;
  sumCompanions(
    accountId: string,
    periods: readonly UsagePeriod[],
    dimensions: readonly UsageDimension[],
    scope: UsageScope,
  ): AsyncGenerator<SumRow[]>;
  /**
   * The next companions that were ever used, or on that day, in order; none at the end. Deleted ones too. The empty id is
   * the keys' own calls.
   */
  listCompanions(accountId: string, from: string, day: string | null): Promise<string[]>;
  /** The first day with usage from that one on. */
  findDay(accountId: string, fromDay: string): Promise<string | null>;
  /** Labels whose metadata matches, a few at a time; those that came after the call may be missing. */
  walkLabels(accountId: string, filters: readonly MetadataFilter[]): AsyncGenerator<UsageLabel[]>;
  /** Labels of one companion with lower numbers, the highest first. */
  listLabels(companionId: string, below: number): Promise<number[]>;
  /** Those that there are, `labelsPerRead` at most in each part. */
  readLabels(numbers: readonly number[]): AsyncGenerator<LabelText[]>;
}

/** Matching labels up to here are summed together for each page; of more, those of one companion after the other. */
const fewLabels = 5_000;
const labelsPerSum = 500;
/** With 16 KiB each, a search in them takes some milliseconds. */
export const labelsPerRead = 4;

/** The first text behind an id: ids have no blanks. */
export const behind = (id: string) => `${id} `;

export function createUsageReader(source: UsageSource) {
  const joinAll = createLabelJoin(source);

  async function* sum(accountId: string, query: UsageQuery, scope: UsageScope): AsyncGenerator<Summed> {
    const { fromDay, toDay, groupBy } = query;
    const periods = splitPeriod(fromDay, toDay, groupBy.includes("day"));
    yield* joinAll(source.sumCompanions(accountId, periods, dimensionsOf(groupBy), scope), { groupBy, filters: [] });
  }

  async function* sumLabels(
    accountId: string,
    query: UsageQuery,
    labels: readonly UsageLabel[],
  ): AsyncGenerator<Summed> {
    for (let at = 0; at < labels.length; at += labelsPerSum) {
      const part = labels.slice(at, at + labelsPerSum);
      const companionIds = [...new Set(part.map(({ companionId }) => companionId))];
      yield* sum(accountId, query, { companionIds, labels: part.map(({ number }) => number) });
    }
  }

  async function* sumCompanion(accountId: string, query: UsageQuery, companionId: string): AsyncGenerator<Summed> {
    const { metadata: filters } = query;
    if (filters.length === 0) {
      yield* sum(accountId, query, { companionIds: [companionId] });
      return;
    }
    for (let below = Number.MAX_SAFE_INTEGER; ; ) {
      const numbers = await source.listLabels(companionId, below);
      const last = numbers.at(-1);
      if (last === undefined) return;
      below = last;
      const matching: number[] = [];
      for await (const labels of source.readLabels(numbers)) {
        for (const { number, metadata } of labels) {
          if (matchesMetadata(JSON.parse(metadata) as JsonObject, filters)) matching.push(number);
        }
      }
      if (matching.length > 0) yield* sum(accountId, query, { companionIds: [companionId], labels: matching });
    }
  }

  /** All that the query asks for, in parts; the same group may come several times. */
  async function* sumAll(accountId: string, query: UsageQuery): AsyncGenerator<Summed> {
    const { fromDay, toDay, groupBy, companionId, metadata: filters } = query;
    if (companionId !== null) {
      yield* sumCompanion(accountId, query, companionId);
    } else if (filters.length > 0) {
      for await (const labels of source.walkLabels(accountId, filters)) yield* sumLabels(accountId, query, labels);
    } else if (groupBy.includes("companion") || groupBy.some(isMetadata)) {
      for await (const parts of sumInOrder(accountId, query, "")) yield* parts;
    } else {
      const period = { table: "usage_account_daily", column: "day", from: fromDay, to: toDay };
      for await (const rows of source.sumAccount(accountId, period, dimensionsOf(groupBy))) {
        yield rows.map((row) => [row, []] as const);
      }
    }
  }

  /** Some companions after the others: none comes again. With filters, they are searched for in what is found. */
  async function* sumInOrder(
    accountId: string,
    query: UsageQuery,
    firstId: string,
    day: string | null = null,
  ): AsyncGenerator<AsyncGenerator<Summed>> {
    const { fromDay, toDay, groupBy, metadata: filters } = query;
    const periods = splitPeriod(day ?? fromDay, day ?? toDay, groupBy.includes("day"));
    const dimensions = dimensionsOf(groupBy, filters.length > 0);
    for (let from = firstId; ; ) {
      const companionIds = await source.listCompanions(accountId, from, day);
      const last = companionIds.at(-1);
      if (last === undefined) return;
      from = behind(last);
      yield joinAll(source.sumCompanions(accountId, periods, dimensions, { companionIds }), { groupBy, filters });
    }
  }

  /** Null if there are many. */
  async function findFewLabels(accountId: string, { metadata: filters }: UsageQuery): Promise<UsageLabel[] | null> {
    const found: UsageLabel[] = [];
    for await (const labels of source.walkLabels(accountId, filters)) {
      found.push(...labels);
      if (found.length > fewLabels) return null;
    }
    return found;
  }

  /** From a day, or a companion, on: first all of a day, then of the next. */
  async function* sumFrom(
    accountId: string,
    query: UsageQuery,
    after: UsagePageRequest["after"],
  ): AsyncGenerator<AsyncGenerator<Summed>> {
    const isByDay = query.groupBy.includes("day");
    const firstId = after?.[isByDay ? 1 : 0] ?? "";
    if (!isByDay) return yield* sumInOrder(accountId, query, firstId);
    for (let from = query.fromDay; ; ) {
      const day = await source.findDay(accountId, from);
      if (day === null || day > query.toDay) return;
      yield* sumInOrder(accountId, query, day === after?.[0] ? firstId : "", day);
      from = behind(day);
    }
  }

  /** What follows one of them is behind all that is in it, so that a page may end early. */
  async function* sumForPage(
    accountId: string,
    query: UsageQuery,
    after: UsagePageRequest["after"],
  ): AsyncGenerator<AsyncGenerator<Summed>> {
    const isByCompanion = query.companionId === null && query.groupBy.includes("companion");
    if (!isByCompanion) return yield sumAll(accountId, query);
    const few = query.metadata.length === 0 ? null : await findFewLabels(accountId, query);
    if (few !== null) return yield sumLabels(accountId, query, few);
    yield* sumFrom(accountId, query, after);
  }

  return {
    async query(accountId: string, asked: UsageQuery, maxRows = Number.POSITIVE_INFINITY): Promise<UsageRow[]> {
      const query = { ...asked, groupBy: orderGroups(asked.groupBy) };
      const total = createTotal(query.groupBy);
      for await (const part of sumAll(accountId, query)) {
        for (const [row, fields] of part) total.add(row, fields);
        if (total.size > maxRows) break;
      }
      return (await total.sorted()).map(({ row }) => row);
    },

    async queryPage(accountId: string, asked: UsageQuery, { limit, after }: UsagePageRequest): Promise<UsagePage> {
      const query = { ...asked, groupBy: orderGroups(asked.groupBy) };
      const [firstDay] = query.groupBy.includes("day") && after !== null ? after : [];
      if (firstDay && firstDay > query.fromDay) query.fromDay = firstDay;
      if (query.fromDay > query.toDay) return { rows: [], next: null };
      const total = createTotal(query.groupBy, { after, atMost: limit + 1 });
      for await (const parts of sumForPage(accountId, query, after)) {
        for await (const part of parts) for (const [row, fields] of part) total.add(row, fields);
        if (total.size > limit) break;
      }
      const groups = await total.sorted();
      const rows = groups.slice(0, limit).map(({ row }) => row);
      return { rows, next: groups.length > limit ? (groups[limit - 1]?.position ?? null) : null };
    },
  };
}
