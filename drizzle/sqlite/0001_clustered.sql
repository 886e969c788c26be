-- Tables that are their own index: looked up or updated by their whole key on hot paths.
-- Valid tokens only: a revoked one is deleted.
CREATE TABLE `embed_tokens` (
	`token` text PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`companion_id` text NOT NULL,
	`name` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`companion_id`) REFERENCES `companions`(`id`) ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `embed_tokens_id` ON `embed_tokens` (`id`);--> statement-breakpoint
CREATE INDEX `embed_tokens_companion` ON `embed_tokens` (`companion_id`);--> statement-breakpoint
-- Which companions of an account have a value under a metadata path: one row per 4096 companion numbers.
CREATE TABLE `companion_metadata` (
	`account_number` integer NOT NULL,
	`path` text NOT NULL,
	`value` text NOT NULL,
	`block` integer NOT NULL,
	`members` blob NOT NULL,
	PRIMARY KEY (`account_number`, `path`, `value`, `block`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- Usage in full detail. An empty companion is the key's own calls, an empty key the dashboard.
CREATE TABLE `usage_daily` (
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`day` text NOT NULL,
	`key_id` text NOT NULL,
	`messages` integer DEFAULT 0 NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`input_tokens` integer DEFAULT 0 NOT NULL,
	`output_tokens` integer DEFAULT 0 NOT NULL,
	`voice_sessions` integer DEFAULT 0 NOT NULL,
	`errors` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY (`account_id`, `companion_id`, `day`, `key_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- The same by month, so that a year of many companions is not read day by day.
CREATE TABLE `usage_monthly` (
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`month` text NOT NULL,
	`key_id` text NOT NULL,
	`messages` integer DEFAULT 0 NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`input_tokens` integer DEFAULT 0 NOT NULL,
	`output_tokens` integer DEFAULT 0 NOT NULL,
	`voice_sessions` integer DEFAULT 0 NOT NULL,
	`errors` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY (`account_id`, `companion_id`, `month`, `key_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- The same summed over companions, so that an account's own figures do not read a row per companion.
CREATE TABLE `usage_account_daily` (
	`account_id` text NOT NULL,
	`day` text NOT NULL,
	`key_id` text NOT NULL,
	`messages` integer DEFAULT 0 NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`input_tokens` integer DEFAULT 0 NOT NULL,
	`output_tokens` integer DEFAULT 0 NOT NULL,
	`voice_sessions` integer DEFAULT 0 NOT NULL,
	`errors` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY (`account_id`, `day`, `key_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `quota_daily` (
	`companion_id` text NOT NULL,
	`day` text NOT NULL,
	`messages` integer NOT NULL,
	PRIMARY KEY (`companion_id`, `day`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `idempotency` (
	`account_id` text NOT NULL,
	`method` text NOT NULL,
	`path` text NOT NULL,
	`key` text NOT NULL,
	`body_hash` text NOT NULL,
	`status` integer NOT NULL,
	`body` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY (`account_id`, `method`, `path`, `key`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `idempotency_created` ON `idempotency` (`created_at`);
