/**
 * Another server on a database: `bun postgres-instance-process.ts <url> <conversation> [message]` takes a turn of
 * companion `c`, prints "in", and holds it until it is killed or its standard input ends.
 */
import { openPostgresInstance } from "./postgres-instance.ts";
import { turnEntry } from "./turn-entry.ts";

const [, , url = "", queueKey = "", messageId = null] = process.argv;
const { coordination } = await openPostgresInstance(url);
const entry = turnEntry({ queueKey, messageId });
const verdict = await coordination.turns.enter(entry, new AbortController().signal);
console.log(verdict.isAdmitted ? "in" : verdict.reason);
for await (const _ of Bun.stdin.stream());
process.exit(0);
