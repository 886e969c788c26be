-- The functions of usage that says what it cost and under which metadata, and of budgets. Those that settle turns stand
-- beside the ones of the same name with fewer parameters, which servers of the version before call while they are
-- replaced.

-- The label of each companion's metadata as it is now, in the order of the ids; 0 for none. A companion that is gone has
-- the last one. Two transactions may make the same label: what reads them does not mind.
CREATE FUNCTION "label_usage"("companion_ids" text[]) RETURNS bigint[] LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	"labels" bigint[];
	"is_changed" boolean;
BEGIN
	LOOP
		SELECT array_agg(CASE WHEN c."metadata" = '{}' THEN 0 ELSE coalesce(l."number", 0) END ORDER BY a."place"),
			bool_or(c."metadata" <> '{}' AND c."metadata" IS DISTINCT FROM l."metadata")
		INTO "labels", "is_changed"
		FROM unnest("companion_ids") WITH ORDINALITY AS a("id", "place")
		LEFT JOIN "companions" AS c ON c."id" = a."id"
		LEFT JOIN LATERAL (
			SELECT u."number", u."metadata" FROM "usage_labels" AS u
			WHERE u."companion_id" = a."id" AND c."metadata" IS DISTINCT FROM '{}' ORDER BY u."number" DESC LIMIT 1
		) AS l ON true;
		-- Nearly always, so that this is one statement.
		IF "is_changed" IS NOT TRUE THEN RETURN "labels"; END IF;
		INSERT INTO "usage_labels" ("account_id", "companion_id", "metadata")
		SELECT c."account_id", c."id", c."metadata" FROM "companions" AS c
		WHERE c."id" = ANY ("companion_ids") AND c."metadata" <> '{}' AND c."metadata" IS DISTINCT FROM (
			SELECT l."metadata" FROM "usage_labels" AS l WHERE l."companion_id" = c."id" ORDER BY l."number" DESC LIMIT 1
		);
	END LOOP;
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
-- Keeps budgets of these accounts from being made or changed until the end of the transaction, so that a new one sums
-- what usage has of it without missing or doubling what is just being settled. Who changes budgets takes the lock alone.
CREATE FUNCTION "share_spending"("account_ids" text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock_shared("key") FROM (
		SELECT DISTINCT hashtextextended('spending ' || "account_id", 0) AS "key"
		FROM unnest("account_ids") AS a("account_id") ORDER BY 1
	) AS "keys";
END $$;
--> statement-breakpoint
CREATE FUNCTION "start_of_period"("period" text, "day" text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE "period" WHEN 'day' THEN "day" ELSE left("day", 7) || '-01' END
$$;
--> statement-breakpoint
-- The budgets that count each call, by the call's place. "call_facts": of each a JSON array.
CREATE FUNCTION "match_budgets"("account_ids" text[], "call_facts" text[])
RETURNS TABLE ("place" bigint, "budget_id" text) LANGUAGE sql STABLE SET enable_seqscan = off AS $$
	SELECT c."place", b."id"
	FROM unnest("account_ids", "call_facts") WITH ORDINALITY AS c("account", "facts", "place")
	CROSS JOIN LATERAL jsonb_array_elements_text(c."facts"::jsonb) AS f("fact")
	CROSS JOIN LATERAL (
		SELECT "id", "facts" FROM "budgets" WHERE "account_id" = c."account" AND "fact" = f."fact" OFFSET 0
	) AS b
	WHERE b."facts"::jsonb <@ c."facts"::jsonb
$$;
--> statement-breakpoint
-- Marks budgets whose limit is reached for the first time in a period: the one place where this becomes true, in the
-- transaction of what brought it about. Returns them as JSON.
CREATE FUNCTION "reach_budgets"("ids" text[], "start_days" text[], "at" bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	"reached" jsonb;
BEGIN
	WITH "marked" AS (
		UPDATE "budget_periods" AS p SET "reached_at" = "at"
		FROM unnest("ids", "start_days") AS r("id", "start_day")
		WHERE p."budget_id" = r."id" AND p."start_day" = r."start_day" AND p."reached_at" IS NULL
		RETURNING p."budget_id"
	)
	SELECT jsonb_agg(jsonb_build_object(
		'id', b."id", 'accountId', b."account_id", 'action', b."action", 'period', b."period"
	)) INTO "reached" FROM "marked" JOIN "budgets" AS b ON b."id" = "marked"."budget_id";
	RETURN coalesce("reached", '[]');
END $$;
--> statement-breakpoint
-- Counts what calls have cost in the budgets that they meet, and ends their reservations, which say what a call was where
-- there is one. Costs are null where nobody knows, or nothing was spent. Call "share_spending" before, and before usage
-- is counted. Returns the budgets that were reached, as JSON.
CREATE FUNCTION "settle_spending"(
	"account_ids" text[], "call_facts" text[], "days" text[], "micros" bigint[], "picos" bigint[], "reservations" text[],
	"times" bigint[]
) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	"held_facts" text[];
	"ids" text[];
	"start_days" text[];
BEGIN
	IF cardinality(array_remove("reservations", NULL)) = 0
		AND NOT EXISTS (SELECT FROM "budgets" AS b WHERE b."account_id" = ANY ("account_ids"))
	THEN
		RETURN '[]';
	END IF;
	SELECT array_agg(coalesce(r."facts", c."facts") ORDER BY c."place") INTO "held_facts"
	FROM unnest("call_facts", "reservations") WITH ORDINALITY AS c("facts", "reservation", "place")
	LEFT JOIN "spending_reservations" AS r ON r."id" = c."reservation";
	-- All at once and in their order, so that nobody waits in a circle.
	PERFORM FROM "budgets" AS b WHERE b."id" IN (
		SELECT m."budget_id" FROM "match_budgets"("account_ids", "held_facts") AS m
		UNION SELECT jsonb_array_elements_text(r."budget_ids"::jsonb)
		FROM "spending_reservations" AS r WHERE r."id" = ANY ("reservations")
	) ORDER BY b."id" FOR NO KEY UPDATE;

	WITH "ended" AS (
		DELETE FROM "spending_reservations" AS r WHERE r."id" = ANY ("reservations")
		RETURNING r."day", r."micros", r."budget_ids"
	), "freed" AS (
		SELECT b."id", "start_of_period"(b."period", e."day") AS "start_day", sum(e."micros") AS "micros"
		FROM "ended" AS e CROSS JOIN LATERAL jsonb_array_elements_text(e."budget_ids"::jsonb) AS i("id")
		JOIN "budgets" AS b ON b."id" = i."id" GROUP BY 1, 2
	)
	UPDATE "budget_periods" AS p SET "reserved_micros" = greatest(0, p."reserved_micros" - f."micros")
	FROM "freed" AS f WHERE p."budget_id" = f."id" AND p."start_day" = f."start_day";

	WITH "spent" AS (
		INSERT INTO "budget_periods" AS p ("budget_id", "start_day", "spent_micros", "spent_picos")
		SELECT b."id", "start_of_period"(b."period", c."day"), sum(c."micros"), sum(c."picos")
		FROM "match_budgets"("account_ids", "held_facts") AS m
		JOIN "budgets" AS b ON b."id" = m."budget_id"
		JOIN unnest("days", "micros", "picos") WITH ORDINALITY AS c("day", "micros", "picos", "place")
			ON c."place" = m."place"
		WHERE c."micros" IS NOT NULL
		GROUP BY 1, 2 ORDER BY 1, 2
		ON CONFLICT ("budget_id", "start_day") DO UPDATE SET
			"spent_micros" = p."spent_micros" + excluded."spent_micros",
			"spent_picos" = p."spent_picos" + excluded."spent_picos"
		RETURNING p."budget_id", p."start_day", p."spent_micros" + p."spent_picos" / 1000000 AS "micros", p."reached_at"
	)
	SELECT array_agg(s."budget_id"), array_agg(s."start_day") INTO "ids", "start_days"
	FROM "spent" AS s JOIN "budgets" AS b ON b."id" = s."budget_id"
	WHERE s."reached_at" IS NULL AND s."micros" >= b."limit_micros";
	RETURN CASE WHEN "ids" IS NULL THEN '[]'
		ELSE "reach_budgets"("ids", "start_days", (SELECT max(t) FROM unnest("times") AS t)) END;
END $$;
--> statement-breakpoint
-- Holds what a call may cost in all budgets that count it, or refuses it and holds nothing: JSON with "isReserved", the
-- periods of the budgets in "refusing", and those in "reached". "amount": null where nobody knows.
CREATE FUNCTION "reserve_spending"(
	"reservation" text, "account" text, "companion" text, "key" text, "call_facts" text, "on_day" text, "by_model" text,
	"by_provider" text, "amount" bigint, "ticket" text, "outlives" boolean, "now_ms" bigint, "due_ms" bigint
) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	"ids" text[];
	"refusing" jsonb;
	"full_ids" text[];
	"full_days" text[];
BEGIN
	IF current_setting('synchronous_commit') IN ('off', 'local') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
	PERFORM "share_spending"(ARRAY["account"]);
	SELECT array_agg(m."budget_id") INTO "ids" FROM "match_budgets"(ARRAY["account"], ARRAY["call_facts"]) AS m;
	IF "ids" IS NULL THEN
		RETURN jsonb_build_object('isReserved', false);
	END IF;
	IF "amount" IS NULL THEN
		SELECT jsonb_agg(b."period") INTO "refusing" FROM "budgets" AS b WHERE b."id" = ANY ("ids") AND b."action" = 'stop';
		RETURN jsonb_build_object('isReserved', false, 'refusing', "refusing");
	END IF;
	PERFORM FROM "budgets" AS b WHERE b."id" = ANY ("ids") ORDER BY b."id" FOR NO KEY UPDATE;
	SELECT jsonb_agg(b."period"), array_agg(b."id"), array_agg("start_of_period"(b."period", "on_day"))
	INTO "refusing", "full_ids", "full_days"
	FROM "budgets" AS b
	LEFT JOIN "budget_periods" AS p
		ON p."budget_id" = b."id" AND p."start_day" = "start_of_period"(b."period", "on_day")
	WHERE b."id" = ANY ("ids") AND b."action" = 'stop' AND "amount" + coalesce(p."reserved_micros", 0)
		+ coalesce(p."spent_micros", 0) + (coalesce(p."spent_picos", 0) + 999999) / 1000000 > b."limit_micros";
	IF "refusing" IS NOT NULL THEN
		INSERT INTO "budget_periods" ("budget_id", "start_day")
		SELECT * FROM unnest("full_ids", "full_days") AS f("id", "day") ORDER BY 1 ON CONFLICT DO NOTHING;
		RETURN jsonb_build_object('isReserved', false, 'refusing', "refusing",
			'reached', "reach_budgets"("full_ids", "full_days", "now_ms"));
	END IF;
	INSERT INTO "budget_periods" AS p ("budget_id", "start_day", "reserved_micros")
	SELECT b."id", "start_of_period"(b."period", "on_day"), "amount" FROM "budgets" AS b WHERE b."id" = ANY ("ids")
	ORDER BY 1
	ON CONFLICT ("budget_id", "start_day") DO UPDATE SET
		"reserved_micros" = p."reserved_micros" + excluded."reserved_micros";
	INSERT INTO "spending_reservations" ("id", "account_id", "companion_id", "key_id", "day", "model", "provider", "micros",
		"budget_ids", "facts", "instance_number", "is_voice", "due_at")
	VALUES ("reservation", "account", "companion", "key", "on_day", "by_model", "by_provider", "amount",
		to_jsonb("ids")::text, "call_facts",
		(SELECT t."instance_number" FROM "open_turns" AS t WHERE t."id" = "ticket"), "outlives", "due_ms");
	RETURN jsonb_build_object('isReserved', true);
END $$;
--> statement-breakpoint
-- Ends a reservation for which nothing was spent; one that is gone is nothing to do.
CREATE FUNCTION "release_spending"("reservation" text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	"account" text;
BEGIN
	SELECT r."account_id" INTO "account" FROM "spending_reservations" AS r WHERE r."id" = "reservation";
	IF NOT FOUND THEN RETURN; END IF;
	PERFORM "share_spending"(ARRAY["account"]);
	PERFORM "settle_spending"(ARRAY["account"], ARRAY['[]'], ARRAY[''], ARRAY[NULL]::bigint[], ARRAY[NULL]::bigint[],
		ARRAY["reservation"], ARRAY[0]::bigint[]);
END $$;
--> statement-breakpoint
-- Settles reservations as if each call had cost all that was reserved for it, in usage too, where it is no message.
-- Returns the budgets that were reached, as JSON.
CREATE FUNCTION "settle_at_worst"("ids" text[], "at" bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	"held" record;
	"zeros" bigint[];
BEGIN
	PERFORM "share_spending"(ARRAY (SELECT r."account_id" FROM "spending_reservations" AS r WHERE r."id" = ANY ("ids")));
	SELECT array_agg(r."id") AS "ids", array_agg(r."account_id") AS "accounts", array_agg(r."companion_id") AS "companions",
		array_agg(r."day") AS "days", array_agg(r."key_id") AS "keys", array_agg(r."micros") AS "micros",
		-- Usage of days that are over never changes: they may have been billed.
		array_agg(greatest(r."day", to_char(to_timestamp(("at" - 840000) / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD')))
			AS "open_days",
		array_agg(r."model") AS "models", array_agg(r."provider") AS "providers", array_agg(r."facts") AS "facts"
	INTO "held" FROM (
		SELECT * FROM "spending_reservations" AS s WHERE s."id" = ANY ("ids") ORDER BY s."id" FOR UPDATE SKIP LOCKED
	) AS r;
	IF "held"."ids" IS NULL THEN RETURN '[]'; END IF;
	"zeros" := array_fill(0::bigint, ARRAY[cardinality("held"."ids")]);
	PERFORM "add_usage"("held"."accounts", "held"."companions", "held"."open_days", "held"."keys", "zeros", "zeros", "zeros",
		"zeros", "zeros", "zeros", "zeros", "held"."micros", "zeros", "zeros", "held"."models", "held"."providers");
	RETURN "settle_spending"("held"."accounts", "held"."facts", "held"."days", "held"."micros", "zeros", "held"."ids",
		array_fill("at", ARRAY[cardinality("held"."ids")]));
END $$;
--> statement-breakpoint
-- As before; also settles what the calls of a server that is gone may have cost.
CREATE OR REPLACE FUNCTION "reap_instances"("numbers" bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	"dead" bigint;
	"left" text[];
	"reaped" bigint := 0;
BEGIN
	FOREACH "dead" IN ARRAY "numbers" LOOP
		CONTINUE WHEN NOT pg_try_advisory_xact_lock(1668246896, "dead"::integer);
		SELECT coalesce(array_agg(t."id"), '{}') INTO "left" FROM "open_turns" AS t WHERE t."instance_number" = "dead";
		PERFORM "end_tickets"("left");
		IF EXISTS (SELECT FROM "spending_reservations" AS r WHERE r."instance_number" = "dead") THEN
			PERFORM "settle_at_worst"(
				ARRAY (SELECT r."id" FROM "spending_reservations" AS r WHERE r."instance_number" = "dead"),
				(extract(epoch FROM clock_timestamp()) * 1000)::bigint
			);
		END IF;
		DELETE FROM "instances" AS i WHERE i."number" = "dead";
		"reaped" := "reaped" + cardinality("left");
	END LOOP;
	RETURN "reaped";
END $$;
--> statement-breakpoint
-- As the one without "models": also who replied, and what it cost. Returns the budgets that were reached, as JSON.
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
	"spent_reservations" text[], "spent_times" bigint[]
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	"reached" jsonb := '[]';
BEGIN
	IF current_setting('synchronous_commit') IN ('off', 'local') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
	-- Waits for the same batch if that is still being settled on a connection that was lost.
	INSERT INTO "settled_batches" ("id") VALUES ("batch_id") ON CONFLICT DO NOTHING;
	IF NOT FOUND THEN RETURN '[]'; END IF;
	IF cardinality("spent_accounts") > 0 THEN
		PERFORM "share_spending"("spent_accounts");
	END IF;
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
		"reached" := "settle_spending"("spent_accounts", "spent_facts", "spent_days", "spent_micros", "spent_picos",
			"spent_reservations", "spent_times");
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
	RETURN "reached";
END $$;
