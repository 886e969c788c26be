/** How SQLite goes about the queries that must stay fast: by an index, from one end, without sorting. */
import { expect, test } from "bun:test";
import { companionListQueries } from "../../src/engines/sqlite/companion-lists.ts";
import { companionWalkQueries } from "../../src/engines/sqlite/companion-reader.ts";
import { openConnection } from "../../src/engines/sqlite/connection.ts";
import { conversationListQueries } from "../../src/engines/sqlite/conversation-lists.ts";
import { conversationWalkQueries } from "../../src/engines/sqlite/conversation-reader.ts";
import { messagePageQuery } from "../../src/engines/sqlite/conversations.ts";
import { exchangeQuery } from "../../src/engines/sqlite/exchanges.ts";
import { metadataQueriesOf } from "../../src/engines/sqlite/metadata-index.ts";
import { apiKeyQueries } from "../../src/engines/sqlite/principals.ts";
import { visitorDayQueries } from "../../src/engines/sqlite/quota.ts";
import { translate } from "../../src/engines/sqlite/scripts.ts";
import { keyKinQueries } from "../../src/engines/sqlite/spending-ledger.ts";
import { turnQueries } from "../../src/engines/sqlite/turns.ts";
import { unansweredQueries } from "../../src/engines/sqlite/unanswered.ts";
import { usageQueries } from "../../src/engines/sqlite/usage.ts";
import { labelQueries } from "../../src/engines/sqlite/usage-label-index.ts";
import { visitorKeyLookupQueries } from "../../src/engines/sqlite/visitor-keys.ts";
import { auditQueries } from "../../src/engines/store-shared/scripts/changes.ts";
import { faceQueries } from "../../src/engines/store-shared/scripts/companion-faces.ts";
import { setQueries } from "../../src/engines/store-shared/scripts/companion-sets.ts";
import { stateQueries } from "../../src/engines/store-shared/scripts/companion-states.ts";
import { excerptQueries } from "../../src/engines/store-shared/scripts/conversation-excerpts.ts";
import { draftQueries } from "../../src/engines/store-shared/scripts/drafts.ts";
import { emptyDeliveries } from "../../src/engines/store-shared/scripts/event-deliveries.ts";
import { feedbackQueries } from "../../src/engines/store-shared/scripts/feedback.ts";
import { handoffQueries } from "../../src/engines/store-shared/scripts/handoffs.ts";
import { holdingsQueries } from "../../src/engines/store-shared/scripts/holdings.ts";
import { insightQueries } from "../../src/engines/store-shared/scripts/insights.ts";
import { keyLineQueries } from "../../src/engines/store-shared/scripts/key-lines.ts";
import { sourceQueries } from "../../src/engines/store-shared/scripts/knowledge-sources.ts";
import { knownMessageQueries } from "../../src/engines/store-shared/scripts/known-messages.ts";
import { liveQueries } from "../../src/engines/store-shared/scripts/live-messages.ts";
import { mailQueries } from "../../src/engines/store-shared/scripts/mails.ts";
import { peopleQueries } from "../../src/engines/store-shared/scripts/people.ts";
import { peopleListQueries } from "../../src/engines/store-shared/scripts/people-lists.ts";
import { toolCallQueries } from "../../src/engines/store-shared/scripts/tool-calls.ts";
import { toolQueries } from "../../src/engines/store-shared/scripts/tools.ts";
import { selectSeen } from "../../src/engines/store-shared/scripts/unanswered.ts";
import { roomQueries } from "../../src/engines/store-shared/scripts/version-room.ts";
import { versionQueries } from "../../src/engines/store-shared/scripts/version-store.ts";
import { visitorKeyQueries } from "../../src/engines/store-shared/scripts/visitor-keys.ts";
import { watchedQueries } from "../../src/engines/store-shared/scripts/watched-handoffs.ts";
import { outboxQueries } from "../../src/engines/store-shared/scripts/webhook-deliveries.ts";
import { provideSqlite } from "../support/sqlite-template.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const metadataQueries = metadataQueriesOf("companion_metadata");
const key = "account_number=? AND path=? AND value=?";

const plans: [name: string, sql: string, plan: string[]][] = [
  [
    "an API key: one search in its own table, its account by number, and whether that has an enabled webhook",
    apiKeyQueries.findByHash,
    [
      "SEARCH k USING PRIMARY KEY (hash=?)",
      "SEARCH a USING INTEGER PRIMARY KEY (rowid=?)",
      "CORRELATED SCALAR SUBQUERY 1",
      "SEARCH webhooks USING INDEX webhooks_enabled (account_id=?)",
    ],
  ],
  [
    "the line of an API key: each of its keys, by the one that made it",
    keyLineQueries.select,
    [
      "SEARCH k USING INDEX api_keys_id (id=?)",
      "LIST SUBQUERY 3",
      "MATERIALIZE line",
      "SETUP",
      "SEARCH api_keys USING INDEX api_keys_id (id=?)",
      "RECURSIVE STEP",
      "SCAN line",
      "SEARCH made USING INDEX api_keys_created_by (created_by_key_id=?)",
      "SCAN line",
    ],
  ],
  [
    "the keys whose budgets count a call",
    keyKinQueries.above,
    [
      "CO-ROUTINE kin",
      "SETUP",
      "SCAN json_each VIRTUAL TABLE INDEX 1:",
      "RECURSIVE STEP",
      "COMPOUND QUERY",
      "LEFT-MOST SUBQUERY",
      "SCAN kin",
      "SEARCH k USING INDEX api_keys_replaces (replaces_key_id=?)",
      ...["UNION ALL", "SCAN kin", "SEARCH k USING INDEX api_keys_id (id=?)"],
      ...["UNION ALL", "SCAN kin", "SEARCH k USING INDEX api_keys_id (id=?)"],
      "SCAN kin",
    ],
  ],
  [
    "metadata: how many blocks",
    metadataQueries.countBlocks,
    ["CO-ROUTINE (subquery-1)", `SEARCH companion_metadata USING PRIMARY KEY (${key})`, "SCAN (subquery-1)"],
  ],
  [
    "metadata: a walk",
    metadataQueries.walkBlocks,
    [`SEARCH companion_metadata USING PRIMARY KEY (${key} AND block<?)`],
  ],
  [
    "metadata: a block",
    metadataQueries.findBlock,
    [`SEARCH companion_metadata USING PRIMARY KEY (${key} AND block=?)`],
  ],
  [
    "what an account holds: the row of its counters, and its own",
    holdingsQueries.held,
    ["SEARCH h USING PRIMARY KEY (account_id=?)", "SEARCH a USING INDEX accounts_id_unique (id=?)"],
  ],
  [
    "how many keys: past none that was revoked",
    holdingsQueries.keys,
    ["CO-ROUTINE held", "SEARCH api_keys USING INDEX api_keys_held (account_number=?)", "SCAN held"],
  ],
  [
    "how many tokens of a companion",
    holdingsQueries.tokens,
    [
      "CO-ROUTINE held",
      "SEARCH embed_tokens USING COVERING INDEX embed_tokens_companion (companion_id=?)",
      "SCAN held",
    ],
  ],
  [
    "an avatar by its name",
    faceQueries.avatar,
    ["SEARCH companion_avatars USING INDEX companion_avatars_hash (hash=?)"],
  ],
  ["where a companion was seen", faceQueries.seen, ["SEARCH c USING INDEX companions_id_unique (id=?)"]],
  [
    "the newest companions",
    companionListQueries.newest,
    ["SEARCH c USING INDEX companions_account (account_id=? AND number<?)"],
  ],
  [
    "the oldest companions",
    companionWalkQueries.made.asc,
    ["SEARCH companions USING COVERING INDEX companions_account (account_id=? AND number>?)"],
  ],
  [
    "enabled companions",
    companionWalkQueries.enabled.desc,
    ["SEARCH companions USING COVERING INDEX companions_enabled (account_id=? AND enabled=? AND number<?)"],
  ],
  [
    "companions by last change, oldest first",
    companionWalkQueries.updated.asc,
    ["SEARCH companions USING COVERING INDEX companions_updated (account_id=? AND updated_at>?)"],
  ],
  [
    "companions by last change, newest first",
    companionWalkQueries.updated.desc,
    ["SEARCH companions USING COVERING INDEX companions_updated (account_id=? AND updated_at>? AND updated_at<?)"],
  ],
  [
    "ten minutes with conversations",
    conversationWalkQueries.nextPeriod,
    ["SEARCH conversation_periods USING PRIMARY KEY (account_id=? AND period>?)"],
  ],
  [
    "conversations of ten minutes",
    conversationWalkQueries.ofPeriod,
    [
      "SEARCH p USING PRIMARY KEY (account_id=? AND period=? AND number>?)",
      "SEARCH c USING INTEGER PRIMARY KEY (rowid=?)",
    ],
  ],
  [
    "a page of a conversation's messages",
    messagePageQuery(),
    ["SEARCH messages USING INDEX messages_conversation (conversation_number=? AND created_at<?)"],
  ],
  [
    "an exchange by its name",
    exchangeQuery,
    [
      "SEARCH messages USING INDEX messages_client (conversation_number=? AND client_id=?)",
      "SCALAR SUBQUERY 2",
      "SEARCH conversations USING COVERING INDEX conversations_key (companion_id=? AND session_id=? AND visitor_id=?)",
      "CORRELATED SCALAR SUBQUERY 1",
      "SEARCH conversations USING INTEGER PRIMARY KEY (rowid=?)",
      "USE TEMP B-TREE FOR ORDER BY",
    ],
  ],
  [
    "the key of a visitor's token",
    visitorKeyLookupQueries.find,
    ["SEARCH k USING INDEX sqlite_autoindex_visitor_keys_1 (id=?)"],
  ],
  [
    "the keys that may cover a companion",
    visitorKeyLookupQueries.candidates,
    ["SCAN f VIRTUAL TABLE INDEX 1:", "SEARCH k USING INDEX visitor_keys_fact (fact=?)"],
  ],
  [
    "the newest visitor keys",
    visitorKeyQueries.pages.desc,
    ["SEARCH visitor_keys USING INDEX visitor_keys_account (account_id=? AND id<?)"],
  ],
  ["mail that is due, in its order", mailQueries.due, ["SEARCH m USING INDEX mails_due (due_at<?)"]],
  ["when the next mail is due", mailQueries.nextDue, ["SCAN mails USING INDEX mails_due"]],
  [
    "deliveries that are due, in their order",
    outboxQueries.due,
    [
      "SEARCH d USING INDEX webhook_deliveries_due (due_at<?)",
      "LIST SUBQUERY 2",
      "SCAN json_each VIRTUAL TABLE INDEX 1:",
      "CREATE BLOOM FILTER",
      "SEARCH w EXISTS USING INDEX sqlite_autoindex_webhooks_1 (id=?)",
      "LIST SUBQUERY 3",
      "SCAN json_each VIRTUAL TABLE INDEX 1:",
      "CREATE BLOOM FILTER",
      "CORRELATED SCALAR SUBQUERY 1",
      "SEARCH w USING INDEX sqlite_autoindex_webhooks_1 (id=?)",
    ],
  ],
  [
    "when the next delivery is due",
    outboxQueries.nextDue,
    [
      "SEARCH d USING INDEX webhook_deliveries_due (due_at>?)",
      "SEARCH w EXISTS USING INDEX sqlite_autoindex_webhooks_1 (id=?)",
    ],
  ],
  [
    "the newest deliveries of a webhook",
    outboxQueries.page,
    ["SEARCH d USING INDEX webhook_deliveries_webhook (webhook_id=?)"],
  ],
  [
    "deliveries that a disabled webhook drops",
    outboxQueries.drop,
    [
      "SEARCH webhook_deliveries USING INTEGER PRIMARY KEY (rowid=?)",
      "LIST SUBQUERY 1",
      "SEARCH webhook_deliveries USING COVERING INDEX webhook_deliveries_waiting (webhook_id=?)",
    ],
  ],
  [
    "the conversation's next delivery",
    outboxQueries.releaseNext,
    [
      "SEARCH webhook_deliveries USING INTEGER PRIMARY KEY (rowid=?)",
      "SCALAR SUBQUERY 1",
      "SEARCH webhook_deliveries USING COVERING INDEX webhook_deliveries_waiting (webhook_id=? AND conversation_id=?)",
    ],
  ],
  [
    "deliveries of a conversation that is deleted",
    emptyDeliveries("conversation_id = ?"),
    ["SEARCH webhook_deliveries USING INDEX webhook_deliveries_conversation (conversation_id=?)"],
  ],
  [
    "deliveries of a visitor who is erased",
    emptyDeliveries("companion_id = ? AND visitor_id = ?"),
    ["SEARCH webhook_deliveries USING INDEX webhook_deliveries_visitor (companion_id=? AND visitor_id=?)"],
  ],
  [
    "days of visitors that are forgotten",
    visitorDayQueries.forgetOld,
    [
      "SEARCH visitor_daily USING PRIMARY KEY (companion_id=? AND day=? AND visitor_id=?)",
      "LIST SUBQUERY 5",
      "SEARCH visitor_daily USING PRIMARY KEY (companion_id=? AND day<?)",
      "SCALAR SUBQUERY 3",
      "SEARCH visitor_daily USING PRIMARY KEY (companion_id=? AND day<?)",
      "SCALAR SUBQUERY 2",
      "SEARCH visitor_daily USING PRIMARY KEY (companion_id=? AND day<?)",
      "SCALAR SUBQUERY 1",
      "SEARCH visitor_daily USING PRIMARY KEY (companion_id=?)",
    ],
  ],
  [
    "the next day with visitors",
    visitorDayQueries.nextDay,
    ["SEARCH visitor_daily USING PRIMARY KEY (companion_id=? AND day>?)"],
  ],
  [
    "the newest messages of a conversation",
    turnQueries.history,
    [
      "SEARCH messages USING INDEX messages_conversation (conversation_number=? AND created_at<?)",
      "SCALAR SUBQUERY 1",
      "SEARCH conversations USING COVERING INDEX conversations_key (companion_id=? AND session_id=? AND visitor_id=?)",
    ],
  ],
  [
    "usage of companions, one by one",
    usageQueries.companions,
    [
      "SCAN wanted VIRTUAL TABLE INDEX 1:",
      "SEARCH usage_daily USING PRIMARY KEY (account_id=? AND companion_id=? AND day>? AND day<?)",
      "USE TEMP B-TREE FOR GROUP BY",
    ],
  ],
  [
    "usage of companions, day by day",
    usageQueries.companionsByDay,
    [
      "SCAN wanted VIRTUAL TABLE INDEX 1:",
      "SEARCH usage_daily USING PRIMARY KEY (account_id=? AND companion_id=? AND day>? AND day<?)",
      "USE TEMP B-TREE FOR GROUP BY",
    ],
  ],
  [
    "usage under labels",
    usageQueries.labels,
    [
      "SCAN wanted VIRTUAL TABLE INDEX 1:",
      "SEARCH usage_daily USING PRIMARY KEY (account_id=? AND companion_id=? AND day>? AND day<?)",
      "LIST SUBQUERY 1",
      "SCAN json_each VIRTUAL TABLE INDEX 1:",
      "CREATE BLOOM FILTER",
    ],
  ],
  [
    "usage under labels, day by day",
    usageQueries.labelsByDay,
    [
      "SCAN wanted VIRTUAL TABLE INDEX 1:",
      "SEARCH usage_daily USING PRIMARY KEY (account_id=? AND companion_id=? AND day>? AND day<?)",
      "LIST SUBQUERY 1",
      "SCAN json_each VIRTUAL TABLE INDEX 1:",
      "CREATE BLOOM FILTER",
      "USE TEMP B-TREE FOR GROUP BY",
    ],
  ],
  [
    "usage of the account",
    usageQueries.account,
    ["SEARCH usage_account_daily USING PRIMARY KEY (account_id=? AND day>? AND day<?)"],
  ],
  [
    "where a slice of the account's usage ends",
    usageQueries.nextOfAccount,
    ["SEARCH usage_account_daily USING PRIMARY KEY (account_id=? AND day>? AND day<?)"],
  ],
  [
    "where a slice of a companion's usage ends",
    usageQueries.nextOfCompanion,
    ["SEARCH usage_daily USING PRIMARY KEY (account_id=? AND companion_id=? AND day>? AND day<?)"],
  ],
  [
    "how many rows companions have",
    usageQueries.countOfCompanions,
    [
      "CO-ROUTINE (subquery-1)",
      "SCAN wanted VIRTUAL TABLE INDEX 1:",
      "SEARCH usage_daily USING PRIMARY KEY (account_id=? AND companion_id=? AND day>? AND day<?)",
      "SCAN (subquery-1)",
    ],
  ],
  [
    "the next companion with usage",
    usageQueries.nextCompanion,
    ["SEARCH usage_daily USING PRIMARY KEY (account_id=? AND companion_id>?)"],
  ],
  [
    "the companions with usage on a day",
    usageQueries.companionsOfDay,
    ["SEARCH usage_daily USING COVERING INDEX usage_daily_day (account_id=? AND day=? AND companion_id>?)"],
  ],
  [
    "the next day with usage",
    usageQueries.nextDay,
    ["SEARCH usage_account_daily USING PRIMARY KEY (account_id=? AND day>?)"],
  ],
  [
    "the labels of a companion",
    usageQueries.labelsOf,
    ["SEARCH usage_labels USING COVERING INDEX usage_labels_companion (companion_id=? AND number<?)"],
  ],
  [
    "labels that are not in the index",
    labelQueries.unindexed,
    ["SEARCH usage_labels USING INDEX usage_labels_account (account_id=? AND is_indexed=? AND number<?)"],
  ],
  [
    "the newest label that is not in the index",
    labelQueries.newest,
    ["SEARCH usage_labels USING COVERING INDEX usage_labels_account (account_id=? AND is_indexed=?)"],
  ],
  [
    "whose labels they are",
    labelQueries.companions,
    ["SCAN n VIRTUAL TABLE INDEX 1:", "SEARCH l USING INTEGER PRIMARY KEY (rowid=?)"],
  ],
  [
    "what labels say",
    labelQueries.metadata,
    ["SCAN n VIRTUAL TABLE INDEX 1:", "SEARCH l USING INTEGER PRIMARY KEY (rowid=?)"],
  ],
  [
    "visitors of people who went away",
    watchedQueries.absent,
    [
      "SEARCH h USING INDEX handoffs_owed (owed_since_ms>? AND owed_since_ms<?)",
      "CORRELATED SCALAR SUBQUERY 2",
      "SEARCH p USING INDEX sqlite_autoindex_presence_1 (person_id=?)",
      "CORRELATED SCALAR SUBQUERY 3",
      "SEARCH p USING INDEX sqlite_autoindex_presence_1 (person_id=?)",
      "SEARCH v USING INTEGER PRIMARY KEY (rowid=?)",
      "SEARCH c EXISTS USING COVERING INDEX companions_id_unique (id=?)",
    ],
  ],
  [
    "conversations of a state, of those alone that people have",
    watchedQueries.countState,
    ["SCAN handoffs USING COVERING INDEX handoffs_state"],
  ],
  [
    "whether people have to do with an account",
    peopleQueries.used,
    ["SEARCH companions USING INDEX companions_people (account_id=?)"],
  ],
  [
    "names of companions",
    companionListQueries.names,
    ["SEARCH companions USING COVERING INDEX companions_account (account_id=? AND number<?)"],
  ],
];

test.each(plans)("%s", async (_, sql, expected) => {
  using directory = temporaryDirectory();
  await provideSqlite(directory.path);
  const database = await openConnection(directory.path);
  const rows = database.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${translate(sql)}`).all();
  database.closeWithStatements();
  expect(rows.map((row) => row.detail)).toEqual(expected);
});

test.each(Object.entries(conversationListQueries))("conversations %s", async (_, sql) => {
  using directory = temporaryDirectory();
  await provideSqlite(directory.path);
  const database = await openConnection(directory.path);
  const rows = database.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
  database.closeWithStatements();
  expect(rows[0]?.detail).toMatch(/^SEARCH conversations USING INDEX conversations_\w+ \(.*created_at>\? AND /);
  expect(rows.map((row) => row.detail).join()).not.toContain("TEMP B-TREE");
});

const { pages: toolPages, ...toolLookups } = toolQueries;
const { pages: callPages, ...callLookups } = toolCallQueries;
const { pages: versionPages, ...versionLookups } = versionQueries;
const ofVersions = {
  ...versionPages,
  ...versionLookups,
  ...roomQueries,
  ...setQueries,
  ...stateQueries,
  ...draftQueries,
};

test.each(Object.entries({ ...toolPages, ...toolLookups, ...callPages, ...callLookups, ...ofVersions }))(
  "tools, their calls and versions: %s, by index",
  async (_, sql) => {
    using directory = temporaryDirectory();
    await provideSqlite(directory.path);
    const database = await openConnection(directory.path);
    const rows = database.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${translate(sql)}`).all();
    database.closeWithStatements();
    // What is scanned is a list of parameters, or the rows that were just found.
    const scanned = rows.filter(({ detail }) => /^SCAN (?!json_each |(t|found)$)/.test(detail));
    expect(scanned).toEqual([]);
    expect(rows.some(({ detail }) => detail.startsWith("SEARCH "))).toBe(true);
  },
);

const ofLists = {
  ...excerptQueries,
  ...{
    unansweredOfAccount: unansweredQueries.companions,
    namesInTheAudit: auditQueries.names,
    foundByTurns: selectSeen,
  },
  ...{ sourcesOfAccount: sourceQueries.ofAccount.desc, oldestSourcesOfAccount: sourceQueries.ofAccount.asc },
};
test.each(Object.entries(ofLists))("what lists show of other tables: %s, by index", async (_, sql) => {
  using directory = temporaryDirectory();
  await provideSqlite(directory.path);
  const database = await openConnection(directory.path);
  const rows = database.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${translate(sql)}`).all();
  database.closeWithStatements();
  expect(rows.filter(({ detail }) => /^SCAN (?!json_each)/.test(detail))).toEqual([]);
  expect(rows.some(({ detail }) => detail.startsWith("SEARCH "))).toBe(true);
});

const { events, ...people } = peopleQueries;
const { state, status, all, rating, ...peopleLookups } = peopleListQueries;
const { ofAccount, ofCompanion, ...feedbackLookups } = feedbackQueries;
const { counts, cuts, ...insightLookups } = insightQueries;
const lists = {
  state,
  status,
  all,
  rating,
  ofAccount,
  ofCompanion,
  counts,
  cuts,
  eventsDesc: events.desc,
  eventsAsc: events.asc,
};
const ofPeople = {
  ...handoffQueries,
  ...liveQueries,
  ...knownMessageQueries,
  ...people,
  ...peopleLookups,
  historyOfPeople: turnQueries.historyOfPeople,
  ...feedbackLookups,
  ...{ ...insightLookups, updatedConversations: conversationWalkQueries.updated },
  ...Object.fromEntries(
    Object.entries(lists).flatMap(([name, texts]) => Object.values(texts).map((text, at) => [`${name} ${at}`, text])),
  ),
};
/** What few rows are sorted for: one's own notes, who is present, what one statement has found, sums of a slice. */
const sorted = ["notes", "present", "messages", "rated", "ratings", "rating 0", "rating 1"];
test.each(Object.entries(ofPeople))("conversations of people: %s, by index and from one end", async (name, sql) => {
  using directory = temporaryDirectory();
  await provideSqlite(directory.path);
  const database = await openConnection(directory.path);
  const rows = database.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${translate(sql)}`).all();
  database.closeWithStatements();
  // What is scanned is a list of parameters, a bounded slice, or the index of what is held or due.
  const scanned = rows.filter(({ detail }) =>
    /^SCAN (?!json_each|newest|rated|h USING INDEX handoffs_(until|mail))/.test(detail),
  );
  expect(scanned).toEqual([]);
  if (!sorted.includes(name) && !name.startsWith("counts "))
    expect(rows.map(({ detail }) => detail).join()).not.toContain("TEMP B-TREE");
});
