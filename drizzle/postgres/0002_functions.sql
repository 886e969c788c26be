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
