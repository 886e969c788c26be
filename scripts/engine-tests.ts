/**
 * Which tests of whole requests the gate runs on PostgreSQL too. Every statement of both engines runs in the suites of
 * `test/contracts`. A whole request adds how a route puts them together: what comes back from one goes into the next,
 * inside of one transaction or beside another request. That takes one file for each of the store's contracts, and those
 * that say something else where instances share a storage. Whatever ends before the storage, or asks it what another
 * file asks it, runs on SQLite alone: shapes of requests, guards, streams, clients, providers, pages.
 */

/** By path, what each is there for: contracts of `test/contracts` by name, or a sentence. */
export const onEachEngine: Readonly<Record<string, { contracts?: readonly string[]; reason?: string }>> = {
  "test/cli/key.test.ts": { reason: "a command opens the database beside a server" },
  "test/cli/serve-failures.test.ts": { reason: "what a start says of a storage that it cannot open" },
  "test/docs/challenge.test.ts": { contracts: ["challenges"] },
  "test/http/idempotency.test.ts": { contracts: ["idempotency"] },
  "test/jobs/jobs.test.ts": { reason: "removals by the hour, of all tables" },
  "test/knowledge/indexing.test.ts": { contracts: ["knowledge-index", "knowledge-queue"] },
  "test/mail/mail.test.ts": { contracts: ["mails"], reason: "what a killed server had kept" },
  "test/message-way.test.ts": { reason: "counts the files of each engine" },
  "test/api/accounts.test.ts": { contracts: ["accounts"] },
  "test/api/audit.test.ts": { contracts: ["audit"] },
  "test/api/budgets.test.ts": { contracts: ["spending"], reason: "two instances count together" },
  "test/api/chat.test.ts": { contracts: ["exchanges"] },
  "test/api/companion-history.test.ts": {
    contracts: ["versions"],
    reason: "publications, changes and restores at once, which each engine orders by other locks",
  },
  "test/api/companions-batch.test.ts": { contracts: ["companion-batches"] },
  "test/api/apply.test.ts": { contracts: ["companion-sets"] },
  "test/api/companions-list.test.ts": { contracts: ["companions", "metadata"] },
  "test/api/conversations.test.ts": { contracts: ["conversations"] },
  "test/api/embed-tokens.test.ts": { contracts: ["embed-tokens"] },
  "test/api/holdings.test.ts": { contracts: ["holdings"] },
  "test/api/instances.test.ts": { reason: "only instances on one PostgreSQL reach one another" },
  "test/api/key-lines.test.ts": { contracts: ["api-keys", "key-lines"] },
  "test/api/knowledge.test.ts": { contracts: ["knowledge", "unanswered"] },
  "test/turns/people-turns.test.ts": {
    contracts: ["handoffs"],
    reason: "takes beside turns, which each engine orders by other locks",
  },
  "test/api/feedback.test.ts": { contracts: ["feedback"] },
  "test/api/members.test.ts": { contracts: ["members"] },
  "test/api/people.test.ts": { reason: "lists of conversations by what people have made of them" },
  "test/api/live-elsewhere.test.ts": { reason: "two servers on one PostgreSQL" },
  "test/api/live-outage.test.ts": { reason: "PostgreSQL goes and comes back" },
  "test/api/people-elsewhere.test.ts": { reason: "two servers on one PostgreSQL" },
  "test/api/replies-elsewhere.test.ts": { reason: "two servers on one PostgreSQL" },
  "test/api/resume.test.ts": { contracts: ["turns"] },
  "test/api/second-factor.test.ts": { contracts: ["second-factors"] },
  "test/api/session.test.ts": { contracts: ["sessions"] },
  "test/api/tool-calls-of-visitors.test.ts": { contracts: ["tools", "tool-calls"] },
  "test/api/tools-elsewhere.test.ts": { reason: "two servers on one PostgreSQL" },
  "test/api/usage-recorded.test.ts": { contracts: ["usage-recorded"] },
  "test/api/usage.test.ts": { contracts: ["usage"] },
  "test/api/versions.test.ts": {
    reason: "changes of one version at once, which each engine orders by other locks",
  },
  "test/api/visitor-erasure.test.ts": { reason: "deletes in all tables while others write" },
  "test/api/visitor-keys.test.ts": { contracts: ["visitor-keys"] },
  "test/api/visitor-merge.test.ts": { reason: "moves conversations while others write" },
  "test/api/voice-agent-grants.test.ts": { contracts: ["voice-agent-grants"] },
  "test/api/webhooks.test.ts": { contracts: ["webhooks"] },
  "test/ops/log-canary.test.ts": { reason: "what its driver's errors would tell the log" },
  "test/ops/metrics.test.ts": { reason: "each engine counts its own statements" },
  "test/people/deadlines.test.ts": {
    contracts: ["watched-handoffs"],
    reason: "any server on one PostgreSQL keeps them",
  },
  "test/people/people.test.ts": {
    reason: "races about who has a conversation, which each engine decides by other locks",
  },
  "test/turns/random-replies.test.ts": { reason: "turns at random, whose order each engine keeps by other locks" },
  "test/voice/webhooks.test.ts": { contracts: ["voice"] },
};
