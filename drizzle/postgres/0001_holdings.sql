-- What owners write into a companion, in bytes of UTF-8.
ALTER TABLE "companions" ADD "bytes" bigint GENERATED ALWAYS AS (
	octet_length("name") + octet_length("allowed_origins") + octet_length("starters") + octet_length("metadata")
	+ coalesce(octet_length("system_prompt"), 0) + coalesce(octet_length("greeting"), 0)
	+ coalesce(octet_length("avatar_url"), 0) + coalesce(octet_length("theme_color"), 0)
	+ coalesce(octet_length("voice_id"), 0) + coalesce(octet_length("voice_agent_id"), 0)
	+ coalesce(octet_length("model"), 0)
) STORED;
--> statement-breakpoint
-- What each account holds, counted by the database itself as rows come and go: no way of writing can pass it by.
CREATE FUNCTION "count_new_account"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "account_holdings" ("account_id") VALUES (NEW."id");
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "account_made" AFTER INSERT ON "accounts" FOR EACH ROW EXECUTE FUNCTION "count_new_account"();
--> statement-breakpoint
CREATE FUNCTION "count_new_companions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "account_holdings" AS h SET "companions" = h."companions" + c."rows", "companion_bytes" = h."companion_bytes" + c."bytes"
	FROM (SELECT "account_id", count(*) AS "rows", sum("bytes") AS "bytes" FROM "added" GROUP BY "account_id") AS c
	WHERE h."account_id" = c."account_id";
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "companions_made" AFTER INSERT ON "companions" REFERENCING NEW TABLE AS "added"
FOR EACH STATEMENT EXECUTE FUNCTION "count_new_companions"();
--> statement-breakpoint
CREATE FUNCTION "count_changed_companions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "account_holdings" AS h SET "companion_bytes" = h."companion_bytes" + c."bytes"
	FROM (
		SELECT "account_id", sum("bytes") AS "bytes" FROM (
			SELECT "account_id", "bytes" FROM "added" UNION ALL SELECT "account_id", -"bytes" FROM "removed"
		) AS "change" GROUP BY "account_id"
	) AS c
	WHERE h."account_id" = c."account_id" AND c."bytes" <> 0;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "companions_changed" AFTER UPDATE ON "companions" REFERENCING NEW TABLE AS "added" OLD TABLE AS "removed"
FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_companions"();
--> statement-breakpoint
CREATE FUNCTION "count_deleted_companions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "account_holdings" AS h SET "companions" = h."companions" - c."rows", "companion_bytes" = h."companion_bytes" - c."bytes"
	FROM (SELECT "account_id", count(*) AS "rows", sum("bytes") AS "bytes" FROM "removed" GROUP BY "account_id") AS c
	WHERE h."account_id" = c."account_id";
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "companions_deleted" AFTER DELETE ON "companions" REFERENCING OLD TABLE AS "removed"
FOR EACH STATEMENT EXECUTE FUNCTION "count_deleted_companions"();
--> statement-breakpoint
-- Answers kept for an Idempotency-Key hold whole companions, and outlive them.
CREATE FUNCTION "count_answers"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP <> 'INSERT' THEN
		UPDATE "account_holdings" SET "answer_bytes" = "answer_bytes" - octet_length(OLD."body")
		WHERE "account_id" = OLD."account_id";
	END IF;
	IF TG_OP <> 'DELETE' THEN
		UPDATE "account_holdings" SET "answer_bytes" = "answer_bytes" + octet_length(NEW."body")
		WHERE "account_id" = NEW."account_id";
	END IF;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "answers_kept" AFTER INSERT OR DELETE OR UPDATE OF "body" ON "idempotency"
FOR EACH ROW EXECUTE FUNCTION "count_answers"();
