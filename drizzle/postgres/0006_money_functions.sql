-- The functions of usage that says what it cost and under which metadata, and of budgets. Those that settle turns stand
-- beside the ones of the same name with fewer parameters, which servers of the version before call while they are
-- replaced.

-- The label of each companion's metadata as it is now, in the order of the ids; 0 for none. A companion that is gone has
-- the last one. Two transactions may make the same label: what reads them does not mind.
CREATE FUNCTION "label_usage"("companion_ids" text[]) RETURNS bigint[] LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
	INSERT INTO "usage_labels" ("account_id", "companion_id", "metadata")
	SELECT c."account_id", c."id", c."metadata" FROM "companions" AS c
	WHERE c."id" = ANY ("companion_ids") AND c."metadata" <> '{}' AND c."metadata" IS DISTINCT FROM (
		SELECT l."metadata" FROM "usage_labels" AS l WHERE l."companion_id" = c."id" ORDER BY l."number" DESC LIMIT 1
	);
	RETURN ARRAY (
		SELECT CASE WHEN c."metadata" = '{}' THEN 0 ELSE coalesce((
			SELECT l."number" FROM "usage_labels" AS l WHERE l."companion_id" = a."id" ORDER BY l."number" DESC LIMIT 1
		), 0) END
		FROM unnest("companion_ids") WITH ORDINALITY AS a("id", "place")
		LEFT JOIN "companions" AS c ON c."id" = a."id" ORDER BY a."place"
	);
END $$;
--> statement-breakpoint
-- Rows are always written in the order of their keys, so that transactions that count the same never wait in a circle.
CREATE FUNCTION "add_usage"(
	"account_ids" text[], "companion_ids" text[], "days" text[], "key_ids" text[], "messages" bigint[], "requests" bigint[],
	"input_tokens" bigint[], "output_tokens" bigint[], "voice_sessions" bigint[], "errors" bigint[], "cached" bigint[],
	"micros" bigint[], "picos" bigint[], "unpriced_messages" bigint[], "models" text[], "providers" text[]
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	"labels" bigint[] := "label_usage"("companion_ids");
BEGIN
	INSERT INTO "usage_daily" AS u ("account_id", "companion_id", "day", "key_id", "label", "model", "provider", "messages", "requests", "input_tokens", "output_tokens", "voice_sessions", "errors", "cached_tokens", "cost_micros", "cost_picos", "unpriced")
	SELECT a."account", a."companion", a."day", a."key", a."label", a."model", a."provider", sum(a.m), sum(a.r), sum(a.i), sum(a.o), sum(a.v), sum(a.e), sum(a.c), sum(a.k), sum(a.p), sum(a.u)
	FROM unnest("account_ids", "companion_ids", "days", "key_ids", "labels", "models", "providers", "messages", "requests",
		"input_tokens", "output_tokens", "voice_sessions", "errors", "cached", "micros", "picos", "unpriced_messages")
		AS a("account", "companion", "day", "key", "label", "model", "provider", m, r, i, o, v, e, c, k, p, u)
	GROUP BY 1, 2, 3, 4, 5, 6, 7
	ORDER BY a."account" COLLATE "C", a."companion" COLLATE "C", a."day" COLLATE "C", a."key" COLLATE "C", a."label", a."model" COLLATE "C", a."provider" COLLATE "C"
	ON CONFLICT ("account_id", "companion_id", "day", "key_id", "label", "model", "provider") DO UPDATE SET
		"messages" = u."messages" + excluded."messages",
		"requests" = u."requests" + excluded."requests",
		"input_tokens" = u."input_tokens" + excluded."input_tokens",
		"output_tokens" = u."output_tokens" + excluded."output_tokens",
		"voice_sessions" = u."voice_sessions" + excluded."voice_sessions",
		"errors" = u."errors" + excluded."errors",
		"cached_tokens" = u."cached_tokens" + excluded."cached_tokens",
		"cost_micros" = u."cost_micros" + excluded."cost_micros",
		"cost_picos" = u."cost_picos" + excluded."cost_picos",
		"unpriced" = u."unpriced" + excluded."unpriced";

	INSERT INTO "usage_monthly" AS u ("account_id", "companion_id", "month", "key_id", "label", "model", "provider", "messages", "requests", "input_tokens", "output_tokens", "voice_sessions", "errors", "cached_tokens", "cost_micros", "cost_picos", "unpriced")
	SELECT a."account", a."companion", left(a."day", 7), a."key", a."label", a."model", a."provider", sum(a.m), sum(a.r), sum(a.i), sum(a.o), sum(a.v), sum(a.e), sum(a.c), sum(a.k), sum(a.p), sum(a.u)
	FROM unnest("account_ids", "companion_ids", "days", "key_ids", "labels", "models", "providers", "messages", "requests",
		"input_tokens", "output_tokens", "voice_sessions", "errors", "cached", "micros", "picos", "unpriced_messages")
		AS a("account", "companion", "day", "key", "label", "model", "provider", m, r, i, o, v, e, c, k, p, u)
	GROUP BY 1, 2, 3, 4, 5, 6, 7
	ORDER BY a."account" COLLATE "C", a."companion" COLLATE "C", left(a."day", 7) COLLATE "C", a."key" COLLATE "C", a."label", a."model" COLLATE "C", a."provider" COLLATE "C"
	ON CONFLICT ("account_id", "companion_id", "month", "key_id", "label", "model", "provider") DO UPDATE SET
		"messages" = u."messages" + excluded."messages",
		"requests" = u."requests" + excluded."requests",
		"input_tokens" = u."input_tokens" + excluded."input_tokens",
		"output_tokens" = u."output_tokens" + excluded."output_tokens",
		"voice_sessions" = u."voice_sessions" + excluded."voice_sessions",
		"errors" = u."errors" + excluded."errors",
		"cached_tokens" = u."cached_tokens" + excluded."cached_tokens",
		"cost_micros" = u."cost_micros" + excluded."cost_micros",
		"cost_picos" = u."cost_picos" + excluded."cost_picos",
		"unpriced" = u."unpriced" + excluded."unpriced";

	INSERT INTO "usage_account_daily" AS u ("account_id", "day", "key_id", "model", "provider", "messages", "requests", "input_tokens", "output_tokens", "voice_sessions", "errors", "cached_tokens", "cost_micros", "cost_picos", "unpriced")
	SELECT a."account", a."day", a."key", a."model", a."provider", sum(a.m), sum(a.r), sum(a.i), sum(a.o), sum(a.v), sum(a.e), sum(a.c), sum(a.k), sum(a.p), sum(a.u)
	FROM unnest("account_ids", "companion_ids", "days", "key_ids", "labels", "models", "providers", "messages", "requests",
		"input_tokens", "output_tokens", "voice_sessions", "errors", "cached", "micros", "picos", "unpriced_messages")
		AS a("account", "companion", "day", "key", "label", "model", "provider", m, r, i, o, v, e, c, k, p, u)
	GROUP BY 1, 2, 3, 4, 5
	ORDER BY a."account" COLLATE "C", a."day" COLLATE "C", a."key" COLLATE "C", a."model" COLLATE "C", a."provider" COLLATE "C"
	ON CONFLICT ("account_id", "day", "key_id", "model", "provider") DO UPDATE SET
		"messages" = u."messages" + excluded."messages",
		"requests" = u."requests" + excluded."requests",
		"input_tokens" = u."input_tokens" + excluded."input_tokens",
		"output_tokens" = u."output_tokens" + excluded."output_tokens",
		"voice_sessions" = u."voice_sessions" + excluded."voice_sessions",
		"errors" = u."errors" + excluded."errors",
		"cached_tokens" = u."cached_tokens" + excluded."cached_tokens",
		"cost_micros" = u."cost_micros" + excluded."cost_micros",
		"cost_picos" = u."cost_picos" + excluded."cost_picos",
		"unpriced" = u."unpriced" + excluded."unpriced";
END $$;
--> statement-breakpoint
-- For servers of the version before, which do not know who replied or what it cost.
CREATE OR REPLACE FUNCTION "add_usage"(
	"account_ids" text[], "companion_ids" text[], "days" text[], "key_ids" text[], "messages" bigint[], "requests" bigint[],
	"input_tokens" bigint[], "output_tokens" bigint[], "voice_sessions" bigint[], "errors" bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM "add_usage"("account_ids", "companion_ids", "days", "key_ids", "messages", "requests", "input_tokens",
		"output_tokens", "voice_sessions", "errors", array_fill(0::bigint, ARRAY[cardinality("days")]),
		array_fill(0::bigint, ARRAY[cardinality("days")]), array_fill(0::bigint, ARRAY[cardinality("days")]), "messages",
		array_fill(''::text, ARRAY[cardinality("days")]), array_fill(''::text, ARRAY[cardinality("days")]));
END $$;
--> statement-breakpoint
-- As the one without "models".
CREATE FUNCTION "add_messages"(
	"are_turns" boolean,
	"conversation_ids" text[], "companion_ids" text[], "session_ids" text[], "visitor_ids" text[],
	"arrival_marks" text[], "message_counts" integer[], "first_times" bigint[], "last_times" bigint[],
	"sealed_visitors" text[], "client_ids" text[],
	"places" integer[], "message_ids" text[], "roles" text[], "channels" text[], "completes" boolean[],
	"inputs" bigint[], "outputs" bigint[], "estimates" boolean[], "times" bigint[], "texts" text[],
	"end_codes" text[], "models" text[], "providers" text[]
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
			"output_tokens", "tokens_estimated", "created_at", "text", "client_id", "end_code",
			"model", "provider")
		SELECT "kept"."number", m."id", m."role", m."channel", m."complete", m."input", m."output", m."estimated",
			m."time" + CASE WHEN "are_turns" THEN "kept"."updated_at" - "arrived"."last" ELSE 0 END, m."text",
			"arrived"."client", m."code", m."model", m."provider"
		FROM unnest("places", "message_ids", "roles", "channels", "completes", "inputs", "outputs", "estimates", "times",
			"texts", "end_codes", "models", "providers") WITH ORDINALITY
			AS m("place", "id", "role", "channel", "complete", "input", "output", "estimated", "time", "text", "code",
				"model", "provider", "at")
		JOIN "arrived" ON "arrived"."place" = m."place" AND ("arrived"."known" IS NULL OR m."role" <> 'user')
		JOIN "kept" ON "kept"."companion_id" = "arrived"."companion" AND "kept"."session_id" = "arrived"."session"
			AND "kept"."visitor_id" = "arrived"."visitor"
		ORDER BY m."at"
	)
	SELECT count(*) INTO "added" FROM "kept";
	RETURN "added";
END $$;
--> statement-breakpoint
-- Counts what calls have cost in the budgets that they meet, and ends their reservations. "facts": of each call, a JSON
-- array.
CREATE FUNCTION "settle_spending"(
	"account_ids" text[], "facts" text[], "days" text[], "micros" bigint[], "picos" bigint[], "reservations" text[]
) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
	RETURN;
END $$;
--> statement-breakpoint
-- As the one without "models": also who replied, and what it cost.
CREATE FUNCTION "settle_turns"(
	"batch_id" text,
	"conversation_ids" text[], "companion_ids" text[], "session_ids" text[], "visitor_ids" text[],
	"arrival_marks" text[], "message_counts" integer[], "first_times" bigint[], "last_times" bigint[],
	"sealed_visitors" text[], "client_ids" text[],
	"places" integer[], "message_ids" text[], "roles" text[], "channels" text[], "completes" boolean[],
	"inputs" bigint[], "outputs" bigint[], "estimates" boolean[], "times" bigint[], "texts" text[],
	"end_codes" text[], "models" text[], "providers" text[],
	"used_accounts" text[], "used_companions" text[], "used_days" text[], "used_keys" text[], "used_messages" bigint[],
	"used_requests" bigint[], "used_inputs" bigint[], "used_outputs" bigint[], "used_sessions" bigint[],
	"used_errors" bigint[], "used_cached" bigint[], "used_micros" bigint[], "used_picos" bigint[],
	"used_unpriced" bigint[], "used_models" text[], "used_providers" text[],
	"failed_accounts" text[], "failed_companions" text[], "failed_days" text[], "failed_kinds" text[],
	"counted_companions" text[], "counted_days" text[], "counted_messages" bigint[], "counted_sessions" bigint[],
	"ticket_ids" text[],
	"again_companions" text[], "again_sessions" text[], "again_visitors" text[], "again_clients" text[],
	"again_codes" text[],
	"limited_companions" text[], "limited_sessions" text[], "limited_visitors" text[], "limited_marks" text[],
	"limited_days" text[],
	"spent_accounts" text[], "spent_facts" text[], "spent_days" text[], "spent_micros" bigint[], "spent_picos" bigint[],
	"spent_reservations" text[]
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
			"roles", "channels", "completes", "inputs", "outputs", "estimates", "times", "texts", "end_codes",
			"models", "providers");
	END IF;
	IF cardinality("again_clients") > 0 THEN
		PERFORM "note_ends"("again_companions", "again_sessions", "again_visitors", "again_clients", "again_codes");
	END IF;
	PERFORM "add_usage"("used_accounts", "used_companions", "used_days", "used_keys", "used_messages", "used_requests",
		"used_inputs", "used_outputs", "used_sessions", "used_errors", "used_cached", "used_micros", "used_picos",
		"used_unpriced", "used_models", "used_providers");
	IF cardinality("spent_accounts") > 0 THEN
		PERFORM "settle_spending"("spent_accounts", "spent_facts", "spent_days", "spent_micros", "spent_picos",
			"spent_reservations");
	END IF;
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
