-- What must happen in one round trip, and decide by what is committed when it gets its lock: inside a function each
-- statement sees what was committed before it.

-- Keeps the remains of these companions where they are until the end of the transaction: who removes them waits.
CREATE FUNCTION "share_companions"("companion_ids" text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock_shared("key") FROM (
		SELECT DISTINCT hashtextextended('companion ' || "id", 0) AS "key" FROM unnest("companion_ids") AS "id" ORDER BY 1
	) AS "keys";
END $$;
--> statement-breakpoint
-- Rows are always written in the order of their keys, so that transactions that count the same never wait in a circle.
CREATE FUNCTION "add_usage"(
	"account_ids" text[], "companion_ids" text[], "days" text[], "key_ids" text[], "messages" bigint[], "requests" bigint[],
	"input_tokens" bigint[], "output_tokens" bigint[], "voice_sessions" bigint[], "errors" bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "usage_daily" AS u
	SELECT "account", "companion", "day", "key", sum(m), sum(r), sum(i), sum(o), sum(v), sum(e)
	FROM unnest("account_ids", "companion_ids", "days", "key_ids", "messages", "requests", "input_tokens", "output_tokens",
		"voice_sessions", "errors") AS a("account", "companion", "day", "key", m, r, i, o, v, e)
	GROUP BY 1, 2, 3, 4 ORDER BY "account" COLLATE "C", "companion" COLLATE "C", "day" COLLATE "C", "key" COLLATE "C"
	ON CONFLICT ("account_id", "companion_id", "day", "key_id") DO UPDATE SET
		"messages" = u."messages" + excluded."messages", "requests" = u."requests" + excluded."requests",
		"input_tokens" = u."input_tokens" + excluded."input_tokens",
		"output_tokens" = u."output_tokens" + excluded."output_tokens",
		"voice_sessions" = u."voice_sessions" + excluded."voice_sessions", "errors" = u."errors" + excluded."errors";

	INSERT INTO "usage_monthly" AS u
	SELECT "account", "companion", left("day", 7), "key", sum(m), sum(r), sum(i), sum(o), sum(v), sum(e)
	FROM unnest("account_ids", "companion_ids", "days", "key_ids", "messages", "requests", "input_tokens", "output_tokens",
		"voice_sessions", "errors") AS a("account", "companion", "day", "key", m, r, i, o, v, e)
	GROUP BY 1, 2, 3, 4 ORDER BY "account" COLLATE "C", "companion" COLLATE "C", left("day", 7) COLLATE "C", "key" COLLATE "C"
	ON CONFLICT ("account_id", "companion_id", "month", "key_id") DO UPDATE SET
		"messages" = u."messages" + excluded."messages", "requests" = u."requests" + excluded."requests",
		"input_tokens" = u."input_tokens" + excluded."input_tokens",
		"output_tokens" = u."output_tokens" + excluded."output_tokens",
		"voice_sessions" = u."voice_sessions" + excluded."voice_sessions", "errors" = u."errors" + excluded."errors";

	INSERT INTO "usage_account_daily" AS u
	SELECT "account", "day", "key", sum(m), sum(r), sum(i), sum(o), sum(v), sum(e)
	FROM unnest("account_ids", "days", "key_ids", "messages", "requests", "input_tokens", "output_tokens",
		"voice_sessions", "errors") AS a("account", "day", "key", m, r, i, o, v, e)
	GROUP BY 1, 2, 3 ORDER BY "account" COLLATE "C", "day" COLLATE "C", "key" COLLATE "C"
	ON CONFLICT ("account_id", "day", "key_id") DO UPDATE SET
		"messages" = u."messages" + excluded."messages", "requests" = u."requests" + excluded."requests",
		"input_tokens" = u."input_tokens" + excluded."input_tokens",
		"output_tokens" = u."output_tokens" + excluded."output_tokens",
		"voice_sessions" = u."voice_sessions" + excluded."voice_sessions", "errors" = u."errors" + excluded."errors";
END $$;
--> statement-breakpoint
-- Counts nothing for a deleted companion. With the first count of a day it forgets old ones: messages admitted before
-- midnight may be counted after it, so yesterday's count stays. So do the last three days, whatever they are: a clock
-- that is ahead for a while must not reset today's quota.
CREATE FUNCTION "add_quota"(
	"companion_ids" text[], "days" text[], "message_counts" bigint[], "voice_counts" bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	"new_ids" text[];
	"new_days" text[];
BEGIN
	PERFORM "share_companions"("companion_ids");
	WITH "added" AS MATERIALIZED (
		SELECT "id", "day", sum(m) AS m, sum(v) AS v
		FROM unnest("companion_ids", "days", "message_counts", "voice_counts") AS a("id", "day", m, v) GROUP BY 1, 2
	), "counted" AS (
		INSERT INTO "quota_daily" AS q ("companion_id", "day", "messages", "voice_sessions")
		SELECT "id", "day", m, v FROM "added" WHERE (SELECT true FROM "companions" AS c WHERE c."id" = "added"."id")
		ORDER BY "id" COLLATE "C", "day" COLLATE "C"
		ON CONFLICT ("companion_id", "day") DO UPDATE SET
			"messages" = q."messages" + excluded."messages", "voice_sessions" = q."voice_sessions" + excluded."voice_sessions"
		RETURNING q."companion_id", q."day", q."messages" + q."voice_sessions" AS "total"
	)
	SELECT array_agg("id"), array_agg("added"."day") INTO "new_ids", "new_days" FROM "added"
	JOIN "counted" AS c ON c."companion_id" = "id" AND c."day" = "added"."day" AND c."total" = m + v;
	IF "new_ids" IS NULL THEN RETURN; END IF;
	-- Passes over what another transaction counts just now: the next day takes it along.
	DELETE FROM "quota_daily" WHERE ("companion_id", "day") IN (
		SELECT q."companion_id", q."day" FROM unnest("new_ids", "new_days") AS n("id", "new_day")
		CROSS JOIN LATERAL (
			SELECT k."day" FROM "quota_daily" AS k WHERE k."companion_id" = n."id" ORDER BY k."day" DESC LIMIT 1 OFFSET 2
		) AS "third"
		JOIN "quota_daily" AS q ON q."companion_id" = n."id" AND q."day" < "third"."day"
			AND q."day" < to_char(n."new_day"::date - 1, 'YYYY-MM-DD')
		FOR UPDATE OF q SKIP LOCKED
	);
END $$;
--> statement-breakpoint
-- Tickets come and go all the time: dead rows must not pile up until a share of the table is dead.
ALTER TABLE "open_turns" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
--> statement-breakpoint
-- Who is alive holds the advisory lock (1668246896, its number) in a session of its own.
CREATE FUNCTION "live_instances"() RETURNS SETOF bigint LANGUAGE sql AS $$
	SELECT "objid"::bigint FROM "pg_locks"
	WHERE "locktype" = 'advisory' AND "classid" = 1668246896 AND "objsubid" = 2 AND "objid" <> 0 AND "granted"
		AND "database" = (SELECT "oid" FROM "pg_database" WHERE "datname" = current_database());
$$;
--> statement-breakpoint
-- What is taken of a companion's day: what is durable, and the tickets that run. One statement, since a commit turns
-- the one into the other.
CREATE FUNCTION "used_of_day"("companion" text, "use" text, "today" text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN (
		SELECT count(*) FROM "open_turns" AS t
		WHERE t."companion_id" = "companion" AND t."day" = "today" AND t."kind" = "use" AND t."is_running"
	) + coalesce((
		SELECT CASE "use" WHEN 'message' THEN q."messages" ELSE q."voice_sessions" END FROM "quota_daily" AS q
		WHERE q."companion_id" = "companion" AND q."day" = "today"
	), 0);
END $$;
--> statement-breakpoint
-- Deletes tickets, and tells the server of the next waiter unless that is the ticket's own, which knows. In the order
-- of their numbers, so that two of these cannot wait for each other.
CREATE FUNCTION "end_tickets"("tickets" text[]) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	"keys" text[];
	"owners" bigint[];
BEGIN
	WITH "ending" AS (
		SELECT t."number" FROM "open_turns" AS t WHERE t."id" = ANY ("tickets") ORDER BY t."number" FOR UPDATE
	), "ended" AS (
		DELETE FROM "open_turns" AS t USING "ending" AS e WHERE t."number" = e."number"
		RETURNING t."queue_key", t."instance_number"
	)
	SELECT array_agg(e."queue_key"), array_agg(e."instance_number") INTO "keys", "owners"
	FROM "ended" AS e WHERE e."queue_key" IS NOT NULL;
	IF "keys" IS NULL THEN
		RETURN;
	END IF;
	PERFORM pg_notify('companiond_turns_' || n."instance_number", n."id")
	FROM (SELECT DISTINCT * FROM unnest("keys", "owners") AS u("queue_key", "owner")) AS e
	CROSS JOIN LATERAL (
		SELECT t."id", t."instance_number", t."is_running" FROM "open_turns" AS t
		WHERE t."queue_key" = e."queue_key" ORDER BY t."number" LIMIT 1
	) AS n
	WHERE NOT n."is_running" AND n."instance_number" <> e."owner";
END $$;
--> statement-breakpoint
-- Takes a place in a conversation, and one of the day if it may run: 'run', 'wait', 'queue_full' or 'day_used_up'.
-- Asked again with the same ticket, it answers what became of it. "ended": tickets of this companion that the server
-- has ended before, which it may not have been able to say yet.
CREATE FUNCTION "enter_turn"(
	"ticket" text, "instance" bigint, "companion" text, "use" text, "conversation" text, "most_waiting" integer,
	"today" text, "per_day" bigint, "ended" text[]
) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	"runs" boolean;
	"ahead" bigint;
	"last_ahead" bigint;
BEGIN
	-- A crash may lose a ticket; its turn is settled without it.
	PERFORM set_config('synchronous_commit', 'off', true);
	PERFORM pg_advisory_xact_lock(hashtextextended('turns ' || "companion", 0));
	IF cardinality("ended") > 0 THEN
		PERFORM "end_tickets"("ended");
	END IF;
	SELECT t."is_running" INTO "runs" FROM "open_turns" AS t WHERE t."id" = "ticket";
	IF FOUND THEN
		RETURN CASE WHEN "runs" THEN 'run' ELSE 'wait' END;
	END IF;
	WHILE "conversation" IS NOT NULL LOOP
		SELECT count(*), max(t."number") INTO "ahead", "last_ahead"
		FROM "open_turns" AS t WHERE t."queue_key" = "conversation";
		EXIT WHEN "ahead" = 0;
		IF "ahead" > "most_waiting" THEN
			RETURN 'queue_full';
		END IF;
		-- Whoever is ending the one ahead has looked for a waiter before this one is there: wait for that commit.
		PERFORM 1 FROM "open_turns" AS t WHERE t."number" = "last_ahead" FOR KEY SHARE;
		IF FOUND THEN
			INSERT INTO "open_turns" ("id", "instance_number", "companion_id", "kind", "queue_key", "is_running", "day")
			VALUES ("ticket", "instance", "companion", "use", "conversation", false, "today");
			RETURN 'wait';
		END IF;
	END LOOP;
	IF "used_of_day"("companion", "use", "today") >= "per_day" THEN
		RETURN 'day_used_up';
	END IF;
	INSERT INTO "open_turns" ("id", "instance_number", "companion_id", "kind", "queue_key", "is_running", "day")
	VALUES ("ticket", "instance", "companion", "use", "conversation", true, "today");
	RETURN 'run';
END $$;
--> statement-breakpoint
-- Whether it is a waiting ticket's turn: 'run', with the day that it counts towards, 'wait', 'day_used_up' (then it has
-- ended), or 'gone'.
CREATE FUNCTION "take_turn"(
	"ticket" text, "companion" text, "today" text, "per_day" bigint, OUT "verdict" text, OUT "counted_day" text
) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	"own" "open_turns"%ROWTYPE;
BEGIN
	PERFORM set_config('synchronous_commit', 'off', true);
	PERFORM pg_advisory_xact_lock(hashtextextended('turns ' || "companion", 0));
	SELECT * INTO "own" FROM "open_turns" AS t WHERE t."id" = "ticket";
	IF NOT FOUND THEN
		"verdict" := 'gone';
		RETURN;
	END IF;
	IF "own"."is_running" THEN
		"verdict" := 'run';
		"counted_day" := "own"."day";
		RETURN;
	END IF;
	IF EXISTS (
		SELECT 1 FROM "open_turns" AS t WHERE t."queue_key" = "own"."queue_key" AND t."number" < "own"."number"
	) THEN
		"verdict" := 'wait';
		RETURN;
	END IF;
	IF "used_of_day"("companion", "own"."kind", "today") >= "per_day" THEN
		PERFORM "end_tickets"(ARRAY["ticket"]);
		"verdict" := 'day_used_up';
		RETURN;
	END IF;
	UPDATE "open_turns" AS t SET "is_running" = true, "day" = "today" WHERE t."number" = "own"."number";
	"verdict" := 'run';
	"counted_day" := "today";
END $$;
--> statement-breakpoint
-- Deletes what servers that are no longer alive have left; returns how many tickets. Holds the lock of each meanwhile,
-- so that none comes back in between.
CREATE FUNCTION "reap_instances"("numbers" bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	"dead" bigint;
	"left" text[];
	"reaped" bigint := 0;
BEGIN
	FOREACH "dead" IN ARRAY "numbers" LOOP
		CONTINUE WHEN NOT pg_try_advisory_xact_lock(1668246896, "dead"::integer);
		SELECT coalesce(array_agg(t."id"), '{}') INTO "left" FROM "open_turns" AS t WHERE t."instance_number" = "dead";
		PERFORM "end_tickets"("left");
		DELETE FROM "instances" AS i WHERE i."number" = "dead";
		"reaped" := "reaped" + cardinality("left");
	END LOOP;
	RETURN "reaped";
END $$;
--> statement-breakpoint
-- Keeps what these visitors said from being erased until the end of the transaction; an erasure takes the lock alone.
CREATE FUNCTION "share_visitors"("companion_ids" text[], "visitor_ids" text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock_shared("key") FROM (
		SELECT DISTINCT hashtextextended('visitor ' || "companion_id" || ' ' || "visitor_id", 0) AS "key"
		FROM unnest("companion_ids", "visitor_ids") AS v("companion_id", "visitor_id") ORDER BY 1
	) AS "keys";
END $$;
--> statement-breakpoint
-- Adds messages to conversations, which are created if new; each conversation may occur once, and its messages name its
-- place in the arrays. Nothing is added for deleted companions, and nothing of what was erased after it had arrived;
-- without an arrival mark that is not asked. Returns how many conversations there were left.
--
-- Turns follow each other: if the clock was set back and a turn seems to begin before the last message, it moves behind
-- that message with all its own.
CREATE FUNCTION "add_messages"(
	"are_turns" boolean,
	"conversation_ids" text[], "companion_ids" text[], "session_ids" text[], "visitor_ids" text[],
	"arrival_marks" text[], "message_counts" integer[], "first_times" bigint[], "last_times" bigint[],
	"places" integer[], "message_ids" text[], "roles" text[], "channels" text[], "completes" boolean[],
	"inputs" bigint[], "outputs" bigint[], "estimates" boolean[], "times" bigint[], "texts" text[]
) RETURNS integer LANGUAGE plpgsql SET enable_nestloop = off AS $$
DECLARE
	"next_transaction" xid8;
	"forgotten" xid8;
	"added" integer;
BEGIN
	-- In a statement before the one that reads: what was committed while we waited must be seen.
	PERFORM "share_companions"("companion_ids");
	PERFORM "share_visitors"("companion_ids", "visitor_ids");
	-- Later numbers come from another server, whose dump was restored here: they say nothing.
	"next_transaction" := pg_snapshot_xmax(pg_current_snapshot());
	SELECT "transaction" INTO "forgotten" FROM "erasures"
	WHERE "companion_id" = '' AND "transaction" < "next_transaction" ORDER BY "transaction" DESC LIMIT 1;

	WITH "arrived" AS MATERIALIZED (
		SELECT "place", "id", "companion", "session", "visitor", "count", "first", "last",
			(SELECT c."account_id" FROM "companions" AS c WHERE c."id" = "companion") AS "account"
		FROM unnest("conversation_ids", "companion_ids", "session_ids", "visitor_ids", "arrival_marks", "message_counts",
			"first_times", "last_times")
			WITH ORDINALITY AS a("id", "companion", "session", "visitor", "mark", "count", "first", "last", "place")
		WHERE "mark" IS NULL OR (
			("forgotten" IS NULL OR pg_visible_in_snapshot("forgotten", "mark"::pg_snapshot))
			AND (SELECT e."number" FROM "erasures" AS e
				WHERE e."companion_id" = "companion" AND e."visitor_id" = "visitor"
				AND (e."session_id" IS NULL OR e."session_id" = "session") AND e."transaction" < "next_transaction"
				AND NOT pg_visible_in_snapshot(e."transaction", "mark"::pg_snapshot) LIMIT 1) IS NULL
		)
	), "kept" AS (
		INSERT INTO "conversations" AS c
			("id", "account_id", "companion_id", "session_id", "visitor_id", "message_count", "created_at", "updated_at")
		SELECT "id", "account", "companion", "session", "visitor", "count", "first", "last" FROM "arrived"
		WHERE "account" IS NOT NULL
		ORDER BY "companion" COLLATE "C", "session" COLLATE "C", "visitor" COLLATE "C"
		ON CONFLICT ("companion_id", "session_id", "visitor_id") DO UPDATE SET
			"message_count" = c."message_count" + excluded."message_count",
			"updated_at" = greatest(
				c."updated_at" + CASE WHEN "are_turns" THEN excluded."updated_at" - excluded."created_at" ELSE 0 END,
				excluded."updated_at"
			)
		RETURNING c."number", c."companion_id", c."session_id", c."visitor_id", c."updated_at"
	), "written" AS (
		INSERT INTO "messages" ("conversation_number", "id", "role", "channel", "complete", "input_tokens",
			"output_tokens", "tokens_estimated", "created_at", "text")
		SELECT "kept"."number", m."id", m."role", m."channel", m."complete", m."input", m."output", m."estimated",
			m."time" + CASE WHEN "are_turns" THEN "kept"."updated_at" - "arrived"."last" ELSE 0 END, m."text"
		FROM unnest("places", "message_ids", "roles", "channels", "completes", "inputs", "outputs", "estimates", "times",
			"texts") WITH ORDINALITY
			AS m("place", "id", "role", "channel", "complete", "input", "output", "estimated", "time", "text", "at")
		JOIN "arrived" ON "arrived"."place" = m."place"
		JOIN "kept" ON "kept"."companion_id" = "arrived"."companion" AND "kept"."session_id" = "arrived"."session"
			AND "kept"."visitor_id" = "arrived"."visitor"
		ORDER BY m."at"
	)
	SELECT count(*) INTO "added" FROM "kept";
	RETURN "added";
END $$;
--> statement-breakpoint
-- One under the companion, and one under none: the account's sum.
CREATE FUNCTION "add_failures"("account_ids" text[], "companion_ids" text[], "days" text[], "kinds" text[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "failed_replies" AS f ("account_id", "day", "companion_id", "kind", "replies")
	SELECT "account", "day", "counted", "kind", count(*)
	FROM unnest("account_ids", "companion_ids", "days", "kinds") AS a("account", "companion", "day", "kind")
	CROSS JOIN LATERAL (VALUES ("companion"), ('')) AS c("counted")
	GROUP BY 1, 2, 3, 4 ORDER BY "account" COLLATE "C", "day" COLLATE "C", "counted" COLLATE "C", "kind" COLLATE "C"
	ON CONFLICT ("account_id", "day", "companion_id", "kind") DO UPDATE SET "replies" = f."replies" + excluded."replies";
END $$;
--> statement-breakpoint
-- Stores a batch of turns in one commit, once, however often it is sent. Whatever the server's default, it is on disk.
CREATE FUNCTION "settle_turns"(
	"batch_id" text,
	"conversation_ids" text[], "companion_ids" text[], "session_ids" text[], "visitor_ids" text[],
	"arrival_marks" text[], "message_counts" integer[], "first_times" bigint[], "last_times" bigint[],
	"places" integer[], "message_ids" text[], "roles" text[], "channels" text[], "completes" boolean[],
	"inputs" bigint[], "outputs" bigint[], "estimates" boolean[], "times" bigint[], "texts" text[],
	"used_accounts" text[], "used_companions" text[], "used_days" text[], "used_keys" text[], "used_messages" bigint[],
	"used_requests" bigint[], "used_inputs" bigint[], "used_outputs" bigint[], "used_sessions" bigint[],
	"used_errors" bigint[],
	"failed_accounts" text[], "failed_companions" text[], "failed_days" text[], "failed_kinds" text[],
	"counted_companions" text[], "counted_days" text[], "counted_messages" bigint[], "counted_sessions" bigint[],
	"ticket_ids" text[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF current_setting('synchronous_commit') IN ('off', 'local') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
	-- Waits for the same batch if that is still being settled on a connection that was lost.
	INSERT INTO "settled_batches" ("id") VALUES ("batch_id") ON CONFLICT DO NOTHING;
	IF NOT FOUND THEN RETURN; END IF;
	PERFORM "share_companions"("counted_companions");
	IF cardinality("conversation_ids") > 0 THEN
		PERFORM "add_messages"(true, "conversation_ids", "companion_ids", "session_ids", "visitor_ids", "arrival_marks",
			"message_counts", "first_times", "last_times", "places", "message_ids", "roles", "channels", "completes",
			"inputs", "outputs", "estimates", "times", "texts");
	END IF;
	PERFORM "add_usage"("used_accounts", "used_companions", "used_days", "used_keys", "used_messages", "used_requests",
		"used_inputs", "used_outputs", "used_sessions", "used_errors");
	IF cardinality("failed_accounts") > 0 THEN
		PERFORM "add_failures"("failed_accounts", "failed_companions", "failed_days", "failed_kinds");
	END IF;
	IF cardinality("counted_companions") > 0 THEN
		PERFORM "add_quota"("counted_companions", "counted_days", "counted_messages", "counted_sessions");
	END IF;
	IF cardinality("ticket_ids") > 0 THEN
		PERFORM "end_tickets"("ticket_ids");
	END IF;
END $$;
--> statement-breakpoint
-- The newest messages of a conversation, read until their text exceeds so many bytes.
CREATE FUNCTION "read_history"("companion" text, "session" text, "visitor" text, "most_bytes" bigint)
RETURNS TABLE ("role" text, "text" text) LANGUAGE plpgsql STABLE AS $$
DECLARE
	"left_bytes" bigint := "most_bytes";
BEGIN
	FOR "role", "text" IN
		SELECT m."role", m."text" FROM "messages" AS m WHERE m."conversation_number" = (
			SELECT c."number" FROM "conversations" AS c
			WHERE c."companion_id" = "companion" AND c."session_id" = "session" AND c."visitor_id" = "visitor"
		) ORDER BY m."created_at" DESC, m."number" DESC
	LOOP
		RETURN NEXT;
		"left_bytes" := "left_bytes" - octet_length("text");
		EXIT WHEN "left_bytes" < 0;
	END LOOP;
END $$;
--> statement-breakpoint
-- The texts of conversations, one after the other, the newest first, from a position in the first one, until they
-- exceed so many bytes. `place` counts the conversations from 1.
CREATE FUNCTION "read_texts"(
	"conversation_numbers" bigint[], "before_time" bigint, "before_number" bigint, "most_bytes" integer
) RETURNS TABLE ("place" integer, "time" double precision, "number" double precision, "text" text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
	"left_bytes" integer := "most_bytes";
BEGIN
	FOR "at" IN 1 .. cardinality("conversation_numbers") LOOP
		"place" := "at";
		FOR "time", "number", "text" IN
			SELECT m."created_at", m."number", m."text" FROM "messages" AS m
			WHERE m."conversation_number" = "conversation_numbers"["at"]
				AND (m."created_at", m."number") < ("before_time", "before_number")
			ORDER BY m."created_at" DESC, m."number" DESC
		LOOP
			RETURN NEXT;
			"left_bytes" := "left_bytes" - octet_length("text");
			IF "left_bytes" < 0 THEN RETURN; END IF;
		END LOOP;
		"before_time" := 9223372036854775807;
	END LOOP;
END $$;
