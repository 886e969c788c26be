-- The functions of turns that a client has named, and of visitors with a day of their own. Each stands beside the one of
-- the same name that has fewer parameters: servers of the version before call that while they are replaced. Their
-- tickets have no name, and nobody else has an interest in those.

-- What is taken of a visitor's day, as `used_of_day` counts it.
CREATE FUNCTION "used_of_visitor"("companion" text, "visitor" text, "today" text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN (
		SELECT count(*) FROM "open_turns" AS t
		WHERE t."companion_id" = "companion" AND t."day" = "today" AND t."limited_visitor_id" = "visitor"
			AND t."is_running"
	) + coalesce((
		SELECT v."messages" FROM "visitor_daily" AS v
		WHERE v."companion_id" = "companion" AND v."day" = "today" AND v."visitor_id" = "visitor"
	), 0);
END $$;
--> statement-breakpoint
-- As the one without "message": also 'runs_elsewhere' if another server has a ticket for that message already, and
-- 'visitor_day_used_up'. Without "per_day" nothing of the day is asked for; without "limited_visitor" nobody's own is.
CREATE FUNCTION "enter_turn"(
	"ticket" text, "instance" bigint, "companion" text, "use" text, "conversation" text, "most_waiting" integer,
	"today" text, "per_day" bigint, "ended" text[], "message" text, "limited_visitor" text, "per_visitor" bigint
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
	-- Also while the commit that ends that ticket is under way: whoever looks again finds what it stored.
	IF "message" IS NOT NULL AND EXISTS (
		SELECT 1 FROM "open_turns" AS t WHERE t."queue_key" = "conversation" AND t."message_id" = "message"
			AND t."instance_number" <> "instance"
	) THEN
		RETURN 'runs_elsewhere';
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
			INSERT INTO "open_turns" ("id", "instance_number", "companion_id", "kind", "queue_key", "is_running", "day",
				"message_id", "limited_visitor_id")
			VALUES ("ticket", "instance", "companion", "use", "conversation", false, "today", "message", "limited_visitor");
			RETURN 'wait';
		END IF;
	END LOOP;
	IF "per_day" IS NOT NULL AND "used_of_day"("companion", "use", "today") >= "per_day" THEN
		RETURN 'day_used_up';
	END IF;
	IF "limited_visitor" IS NOT NULL
		AND "used_of_visitor"("companion", "limited_visitor", "today") >= "per_visitor" THEN
		RETURN 'visitor_day_used_up';
	END IF;
	INSERT INTO "open_turns" ("id", "instance_number", "companion_id", "kind", "queue_key", "is_running", "day",
		"message_id", "limited_visitor_id")
	VALUES ("ticket", "instance", "companion", "use", "conversation", true, "today", "message", "limited_visitor");
	RETURN 'run';
END $$;
--> statement-breakpoint
-- As the one without "per_visitor": also 'visitor_day_used_up', and then it has ended, too.
CREATE FUNCTION "take_turn"(
	"ticket" text, "companion" text, "today" text, "per_day" bigint, "per_visitor" bigint,
	OUT "verdict" text, OUT "counted_day" text
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
	IF "per_day" IS NOT NULL AND "used_of_day"("companion", "own"."kind", "today") >= "per_day" THEN
		"verdict" := 'day_used_up';
	ELSIF "own"."limited_visitor_id" IS NOT NULL
		AND "used_of_visitor"("companion", "own"."limited_visitor_id", "today") >= "per_visitor" THEN
		"verdict" := 'visitor_day_used_up';
	END IF;
	IF "verdict" IS NOT NULL THEN
		PERFORM "end_tickets"(ARRAY["ticket"]);
		RETURN;
	END IF;
	UPDATE "open_turns" AS t SET "is_running" = true, "day" = "today" WHERE t."number" = "own"."number";
	"verdict" := 'run';
	"counted_day" := "today";
END $$;
--> statement-breakpoint
-- What is stored of each of these exchanges: 'assistant' with a reply, 'user' without one, or NULL.
CREATE FUNCTION "find_stored"("companion_ids" text[], "session_ids" text[], "visitor_ids" text[], "client_ids" text[])
RETURNS text[] LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
	RETURN ARRAY (
		SELECT (
			SELECT min(m."role") FROM "messages" AS m
			WHERE m."client_id" = a."client" AND m."conversation_number" = (
				SELECT c."number" FROM "conversations" AS c
				WHERE c."companion_id" = a."companion" AND c."session_id" = a."session" AND c."visitor_id" = a."visitor"
			)
		)
		FROM unnest("companion_ids", "session_ids", "visitor_ids", "client_ids")
			WITH ORDINALITY AS a("companion", "session", "visitor", "client", "place")
		ORDER BY a."place"
	);
END $$;
--> statement-breakpoint
-- As the one without "sealed_visitors". What is known of a visitor replaces what was. An exchange that the client has
-- named is stored once, however often it runs: a question that is stored gets a reply, and one that has a reply nothing
-- more; a reply whose question is gone is not stored. The new arrays may be empty, which stands for NULL in all places:
-- most turns have none of it.
CREATE FUNCTION "add_messages"(
	"are_turns" boolean,
	"conversation_ids" text[], "companion_ids" text[], "session_ids" text[], "visitor_ids" text[],
	"arrival_marks" text[], "message_counts" integer[], "first_times" bigint[], "last_times" bigint[],
	"sealed_visitors" text[], "client_ids" text[],
	"places" integer[], "message_ids" text[], "roles" text[], "channels" text[], "completes" boolean[],
	"inputs" bigint[], "outputs" bigint[], "estimates" boolean[], "times" bigint[], "texts" text[],
	"end_codes" text[]
) RETURNS integer LANGUAGE plpgsql SET enable_nestloop = off AS $$
DECLARE
	"next_transaction" xid8;
	"forgotten" xid8;
	"stored" text[];
	"added" integer;
BEGIN
	-- In a statement before the one that reads: what was committed while we waited must be seen.
	PERFORM "share_companions"("companion_ids");
	PERFORM "share_visitors"("companion_ids", "visitor_ids");
	-- Later numbers come from another server, whose dump was restored here: they say nothing.
	"next_transaction" := pg_snapshot_xmax(pg_current_snapshot());
	SELECT "transaction" INTO "forgotten" FROM "erasures"
	WHERE "companion_id" = '' AND "transaction" < "next_transaction" ORDER BY "transaction" DESC LIMIT 1;

	IF cardinality("client_ids") > 0 THEN
		"stored" := "find_stored"("companion_ids", "session_ids", "visitor_ids", "client_ids");
	END IF;

	WITH "arrived" AS MATERIALIZED (
		SELECT "place", "id", "companion", "session", "visitor", "first", "last", "sealed", "client", "known",
			CASE WHEN "known" IS NULL THEN "count" ELSE (
				SELECT count(*) FROM unnest("places", "roles") AS r("at", "role")
				WHERE r."at" = "place" AND r."role" <> 'user'
			) END AS "count",
			(SELECT c."account_id" FROM "companions" AS c WHERE c."id" = "companion") AS "account"
		FROM unnest("conversation_ids", "companion_ids", "session_ids", "visitor_ids", "arrival_marks", "message_counts",
			"first_times", "last_times", "sealed_visitors", "client_ids", "stored") WITH ORDINALITY AS
			a("id", "companion", "session", "visitor", "mark", "count", "first", "last", "sealed", "client", "known", "place")
		WHERE ("client" IS NULL OR "known" = 'user' OR (
			"known" IS NULL AND "roles"[array_position("places", "place"::integer)] = 'user'
		)) AND ("mark" IS NULL OR (
			("forgotten" IS NULL OR pg_visible_in_snapshot("forgotten", "mark"::pg_snapshot))
			AND (SELECT e."number" FROM "erasures" AS e
				WHERE e."companion_id" = "companion" AND e."visitor_id" = "visitor"
				AND (e."session_id" IS NULL OR e."session_id" = "session") AND e."transaction" < "next_transaction"
				AND NOT pg_visible_in_snapshot(e."transaction", "mark"::pg_snapshot) LIMIT 1) IS NULL
		))
	), "kept" AS (
		INSERT INTO "conversations" AS c
			("id", "account_id", "companion_id", "session_id", "visitor_id", "message_count", "created_at", "updated_at",
				"sealed_visitor")
		SELECT "id", "account", "companion", "session", "visitor", "count", "first", "last", "sealed" FROM "arrived"
		WHERE "account" IS NOT NULL
		ORDER BY "companion" COLLATE "C", "session" COLLATE "C", "visitor" COLLATE "C"
		ON CONFLICT ("companion_id", "session_id", "visitor_id") DO UPDATE SET
			"message_count" = c."message_count" + excluded."message_count",
			"updated_at" = greatest(
				c."updated_at" + CASE WHEN "are_turns" THEN excluded."updated_at" - excluded."created_at" ELSE 0 END,
				excluded."updated_at"
			),
			"sealed_visitor" = coalesce(excluded."sealed_visitor", c."sealed_visitor")
		RETURNING c."number", c."companion_id", c."session_id", c."visitor_id", c."updated_at"
	), "written" AS (
		INSERT INTO "messages" ("conversation_number", "id", "role", "channel", "complete", "input_tokens",
			"output_tokens", "tokens_estimated", "created_at", "text", "client_id", "end_code")
		SELECT "kept"."number", m."id", m."role", m."channel", m."complete", m."input", m."output", m."estimated",
			m."time" + CASE WHEN "are_turns" THEN "kept"."updated_at" - "arrived"."last" ELSE 0 END, m."text",
			"arrived"."client", m."code"
		FROM unnest("places", "message_ids", "roles", "channels", "completes", "inputs", "outputs", "estimates", "times",
			"texts", "end_codes") WITH ORDINALITY
			AS m("place", "id", "role", "channel", "complete", "input", "output", "estimated", "time", "text", "code", "at")
		JOIN "arrived" ON "arrived"."place" = m."place" AND ("arrived"."known" IS NULL OR m."role" <> 'user')
		JOIN "kept" ON "kept"."companion_id" = "arrived"."companion" AND "kept"."session_id" = "arrived"."session"
			AND "kept"."visitor_id" = "arrived"."visitor"
		ORDER BY m."at"
	)
	SELECT count(*) INTO "added" FROM "kept";
	RETURN "added";
END $$;
--> statement-breakpoint
-- Notes why exchanges ended that were run again and left nothing this time either.
CREATE FUNCTION "note_ends"(
	"companion_ids" text[], "session_ids" text[], "visitor_ids" text[], "client_ids" text[], "codes" text[]
) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
	UPDATE "messages" AS m SET "end_code" = e."code"
	FROM unnest("companion_ids", "session_ids", "visitor_ids", "client_ids", "codes")
		AS e("companion", "session", "visitor", "client", "code")
	CROSS JOIN LATERAL (
		SELECT l."number" FROM "messages" AS l
		WHERE l."conversation_number" = (
			SELECT c."number" FROM "conversations" AS c
			WHERE c."companion_id" = e."companion" AND c."session_id" = e."session" AND c."visitor_id" = e."visitor"
		) AND l."client_id" = e."client"
		ORDER BY l."created_at" DESC, l."number" DESC LIMIT 1
	) AS "last"
	WHERE m."number" = "last"."number" AND m."role" = 'user';
END $$;
--> statement-breakpoint
-- Counts messages in the days of visitors who have their own; nothing for a deleted companion, and nothing that was
-- erased after it had arrived. A visitor's first of a day lets old ones go, as `add_quota` does with days.
CREATE FUNCTION "add_visitor_days"(
	"companion_ids" text[], "session_ids" text[], "visitor_ids" text[], "arrival_marks" text[], "days" text[]
) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	"next_transaction" xid8;
	"forgotten" xid8;
	"begun_ids" text[];
	"begun_days" text[];
BEGIN
	PERFORM "share_companions"("companion_ids");
	PERFORM "share_visitors"("companion_ids", "visitor_ids");
	"next_transaction" := pg_snapshot_xmax(pg_current_snapshot());
	SELECT "transaction" INTO "forgotten" FROM "erasures"
	WHERE "companion_id" = '' AND "transaction" < "next_transaction" ORDER BY "transaction" DESC LIMIT 1;

	WITH "added" AS MATERIALIZED (
		SELECT "companion", "day", "visitor", count(*) AS m
		FROM unnest("companion_ids", "session_ids", "visitor_ids", "arrival_marks", "days")
			AS a("companion", "session", "visitor", "mark", "day")
		WHERE ("forgotten" IS NULL OR pg_visible_in_snapshot("forgotten", "mark"::pg_snapshot))
			AND (SELECT e."number" FROM "erasures" AS e
				WHERE e."companion_id" = "companion" AND e."visitor_id" = "visitor"
				AND (e."session_id" IS NULL OR e."session_id" = "session") AND e."transaction" < "next_transaction"
				AND NOT pg_visible_in_snapshot(e."transaction", "mark"::pg_snapshot) LIMIT 1) IS NULL
		GROUP BY 1, 2, 3
	), "counted" AS (
		INSERT INTO "visitor_daily" AS v ("companion_id", "day", "visitor_id", "messages")
		SELECT "companion", "day", "visitor", m FROM "added"
		WHERE (SELECT true FROM "companions" AS c WHERE c."id" = "companion")
		ORDER BY "companion" COLLATE "C", "day" COLLATE "C", "visitor" COLLATE "C"
		ON CONFLICT ("companion_id", "day", "visitor_id") DO UPDATE SET "messages" = v."messages" + excluded."messages"
		RETURNING v."companion_id", v."day", v."visitor_id", v."messages"
	)
	SELECT array_agg(c."companion_id"), array_agg(c."day") INTO "begun_ids", "begun_days" FROM "counted" AS c
	JOIN "added" AS a ON a."companion" = c."companion_id" AND a."day" = c."day" AND a."visitor" = c."visitor_id"
	WHERE c."messages" = a.m;
	IF "begun_ids" IS NULL THEN RETURN; END IF;
	-- More than are added, and few at once. Passes over what another transaction has: the next one takes it along.
	DELETE FROM "visitor_daily" WHERE ctid = ANY (ARRAY (
		SELECT "old"."place" FROM (
			SELECT "id", min("day") AS "day", 4 * count(*) AS "most"
			FROM unnest("begun_ids", "begun_days") AS b("id", "day") GROUP BY 1
		) AS n
		CROSS JOIN LATERAL (
			SELECT v.ctid AS "place" FROM "visitor_daily" AS v
			WHERE v."companion_id" = n."id" AND v."day" < to_char(n."day"::date - 1, 'YYYY-MM-DD') AND v."day" < (
				SELECT max(k."day") FROM "visitor_daily" AS k WHERE k."companion_id" = n."id" AND k."day" < (
					SELECT max(k."day") FROM "visitor_daily" AS k WHERE k."companion_id" = n."id" AND k."day" < (
						SELECT max(k."day") FROM "visitor_daily" AS k WHERE k."companion_id" = n."id"
					)
				)
			)
			ORDER BY v."day", v."visitor_id" LIMIT n."most" FOR UPDATE SKIP LOCKED
		) AS "old"
	));
END $$;
--> statement-breakpoint
-- As the one without "sealed_visitors": also the names and ends of exchanges, and what is counted in visitors' own days.
CREATE FUNCTION "settle_turns"(
	"batch_id" text,
	"conversation_ids" text[], "companion_ids" text[], "session_ids" text[], "visitor_ids" text[],
	"arrival_marks" text[], "message_counts" integer[], "first_times" bigint[], "last_times" bigint[],
	"sealed_visitors" text[], "client_ids" text[],
	"places" integer[], "message_ids" text[], "roles" text[], "channels" text[], "completes" boolean[],
	"inputs" bigint[], "outputs" bigint[], "estimates" boolean[], "times" bigint[], "texts" text[],
	"end_codes" text[],
	"used_accounts" text[], "used_companions" text[], "used_days" text[], "used_keys" text[], "used_messages" bigint[],
	"used_requests" bigint[], "used_inputs" bigint[], "used_outputs" bigint[], "used_sessions" bigint[],
	"used_errors" bigint[],
	"failed_accounts" text[], "failed_companions" text[], "failed_days" text[], "failed_kinds" text[],
	"counted_companions" text[], "counted_days" text[], "counted_messages" bigint[], "counted_sessions" bigint[],
	"ticket_ids" text[],
	"again_companions" text[], "again_sessions" text[], "again_visitors" text[], "again_clients" text[],
	"again_codes" text[],
	"limited_companions" text[], "limited_sessions" text[], "limited_visitors" text[], "limited_marks" text[],
	"limited_days" text[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF current_setting('synchronous_commit') IN ('off', 'local') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
	-- Waits for the same batch if that is still being settled on a connection that was lost.
	INSERT INTO "settled_batches" ("id") VALUES ("batch_id") ON CONFLICT DO NOTHING;
	IF NOT FOUND THEN RETURN; END IF;
	-- All of them at once, in their order: what runs again is kept, but not counted.
	PERFORM "share_companions"("counted_companions" || "companion_ids");
	IF cardinality("conversation_ids") > 0 THEN
		PERFORM "add_messages"(true, "conversation_ids", "companion_ids", "session_ids", "visitor_ids", "arrival_marks",
			"message_counts", "first_times", "last_times", "sealed_visitors", "client_ids", "places", "message_ids",
			"roles", "channels", "completes", "inputs", "outputs", "estimates", "times", "texts", "end_codes");
	END IF;
	IF cardinality("again_clients") > 0 THEN
		PERFORM "note_ends"("again_companions", "again_sessions", "again_visitors", "again_clients", "again_codes");
	END IF;
	PERFORM "add_usage"("used_accounts", "used_companions", "used_days", "used_keys", "used_messages", "used_requests",
		"used_inputs", "used_outputs", "used_sessions", "used_errors");
	IF cardinality("failed_accounts") > 0 THEN
		PERFORM "add_failures"("failed_accounts", "failed_companions", "failed_days", "failed_kinds");
	END IF;
	IF cardinality("counted_companions") > 0 THEN
		PERFORM "add_quota"("counted_companions", "counted_days", "counted_messages", "counted_sessions");
	END IF;
	IF cardinality("limited_visitors") > 0 THEN
		PERFORM "add_visitor_days"("limited_companions", "limited_sessions", "limited_visitors", "limited_marks",
			"limited_days");
	END IF;
	IF cardinality("ticket_ids") > 0 THEN
		PERFORM "end_tickets"("ticket_ids");
	END IF;
END $$;
--> statement-breakpoint
-- As the one without "except_client", and without the messages of that exchange.
CREATE FUNCTION "read_history"("companion" text, "session" text, "visitor" text, "most_bytes" bigint, "except_client" text)
RETURNS TABLE ("role" text, "text" text) LANGUAGE plpgsql STABLE AS $$
DECLARE
	"left_bytes" bigint := "most_bytes";
BEGIN
	FOR "role", "text" IN
		SELECT m."role", m."text" FROM "messages" AS m WHERE m."conversation_number" = (
			SELECT c."number" FROM "conversations" AS c
			WHERE c."companion_id" = "companion" AND c."session_id" = "session" AND c."visitor_id" = "visitor"
		) AND m."client_id" IS DISTINCT FROM "except_client"
		ORDER BY m."created_at" DESC, m."number" DESC
	LOOP
		RETURN NEXT;
		"left_bytes" := "left_bytes" - octet_length("text");
		EXIT WHEN "left_bytes" < 0;
	END LOOP;
END $$;
