-- Which key made a key, which one took its place, and how an owner tells two of one name apart.
ALTER TABLE `api_keys` ADD `last_four` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `created_by_key_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `replaced_by_key_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `replaced_at` integer;--> statement-breakpoint
CREATE INDEX `api_keys_created_by` ON `api_keys` (`created_by_key_id`) WHERE created_by_key_id IS NOT NULL;--> statement-breakpoint
-- Voice sessions count in the day as messages do.
ALTER TABLE `quota_daily` ADD `voice_sessions` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE TABLE `failed_replies` (
	`account_id` text NOT NULL,
	`day` text NOT NULL,
	`companion_id` text NOT NULL,
	`kind` text NOT NULL,
	`replies` integer NOT NULL,
	PRIMARY KEY (`account_id`, `day`, `companion_id`, `kind`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- Until now whoever named an agent first had it: those stay as they are.
INSERT INTO `voice_agent_grants` (`account_id`, `agent_id`, `created_at`)
SELECT c.`account_id`, c.`voice_agent_id`, min(c.`created_at`) FROM `companions` AS c
WHERE c.`voice_agent_id` IS NOT NULL AND c.`account_id` IN (SELECT `id` FROM `accounts`)
GROUP BY c.`account_id`, c.`voice_agent_id`;
