-- API keys by their hash: one search finds all that a check needs, in rows half as long.
CREATE TABLE `new_api_keys` (
	`hash` blob PRIMARY KEY NOT NULL CHECK (length(`hash`) = 32),
	`id` text NOT NULL,
	`account_number` integer NOT NULL,
	`scopes` text NOT NULL,
	`expires_at` integer,
	`revoked_at` integer,
	`name` text NOT NULL,
	`start` text NOT NULL,
	`last_used_at` integer,
	`requests` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_number`) REFERENCES `accounts`(`number`) ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `new_api_keys`
SELECT unhex(k.`hash`), k.`id`, a.`number`,
	(SELECT coalesce(group_concat(granted.letter, ''), '') FROM (
		SELECT CASE scope.value
			WHEN 'companions:read' THEN 'c' WHEN 'companions:write' THEN 'C'
			WHEN 'conversations:read' THEN 'v' WHEN 'conversations:write' THEN 'V'
			WHEN 'usage:read' THEN 'u'
			WHEN 'keys:read' THEN 'k' WHEN 'keys:write' THEN 'K'
			WHEN 'audit:read' THEN 'a' END AS letter
		FROM json_each(k.`scopes`) AS scope ORDER BY scope.key) AS granted),
	k.`expires_at`, k.`revoked_at`, k.`name`, k.`start`, k.`last_used_at`, k.`requests`, k.`created_at`
FROM `api_keys` AS k JOIN `accounts` AS a ON a.`id` = k.`account_id` ORDER BY unhex(k.`hash`);
--> statement-breakpoint
DROP TABLE `api_keys`;--> statement-breakpoint
ALTER TABLE `new_api_keys` RENAME TO `api_keys`;--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_id` ON `api_keys` (`id`);--> statement-breakpoint
CREATE INDEX `api_keys_account` ON `api_keys` (`account_number`);
