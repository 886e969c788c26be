-- What must happen in one round trip, and decide by what is committed when it gets its lock: inside a function each
-- statement sees what was committed before it.

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
