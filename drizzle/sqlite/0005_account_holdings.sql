-- What each account holds, counted by the database itself as rows come and go: no way of writing can pass it by.
CREATE TABLE `account_holdings` (
	`account_id` text PRIMARY KEY NOT NULL,
	`companions` integer DEFAULT 0 NOT NULL,
	`companion_bytes` integer DEFAULT 0 NOT NULL,
	`answer_bytes` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- What owners write into a companion, in bytes of UTF-8.
ALTER TABLE `companions` ADD `bytes` integer GENERATED ALWAYS AS (
	octet_length(`name`) + octet_length(`allowed_origins`) + octet_length(`starters`) + octet_length(`metadata`)
	+ coalesce(octet_length(`system_prompt`), 0) + coalesce(octet_length(`greeting`), 0)
	+ coalesce(octet_length(`avatar_url`), 0) + coalesce(octet_length(`theme_color`), 0)
	+ coalesce(octet_length(`voice_id`), 0) + coalesce(octet_length(`voice_agent_id`), 0)
	+ coalesce(octet_length(`model`), 0)
) VIRTUAL;
--> statement-breakpoint
INSERT INTO `account_holdings` (`account_id`, `companions`, `companion_bytes`, `answer_bytes`)
SELECT a.`id`, coalesce(c.`companions`, 0), coalesce(c.`bytes`, 0), coalesce(i.`bytes`, 0) FROM `accounts` AS a
LEFT JOIN (SELECT `account_id`, count(*) AS `companions`, sum(`bytes`) AS `bytes` FROM `companions` GROUP BY `account_id`) AS c
	ON c.`account_id` = a.`id`
LEFT JOIN (SELECT `account_id`, sum(octet_length(`body`)) AS `bytes` FROM `idempotency` GROUP BY `account_id`) AS i
	ON i.`account_id` = a.`id`;
--> statement-breakpoint
CREATE TRIGGER `account_made` AFTER INSERT ON `accounts` BEGIN
	INSERT INTO `account_holdings` (`account_id`) VALUES (NEW.`id`);
END;
--> statement-breakpoint
CREATE TRIGGER `companion_made` AFTER INSERT ON `companions` BEGIN
	UPDATE `account_holdings` SET `companions` = `companions` + 1, `companion_bytes` = `companion_bytes` + NEW.`bytes`
	WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
-- Not of other columns: a new embed token would read the whole prompt for nothing.
CREATE TRIGGER `companion_changed` AFTER UPDATE OF
	`name`, `allowed_origins`, `starters`, `metadata`, `system_prompt`, `greeting`, `avatar_url`, `theme_color`, `voice_id`,
	`voice_agent_id`, `model`
ON `companions` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + NEW.`bytes` - OLD.`bytes`
	WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `companion_deleted` AFTER DELETE ON `companions` BEGIN
	UPDATE `account_holdings` SET `companions` = `companions` - 1, `companion_bytes` = `companion_bytes` - OLD.`bytes`
	WHERE `account_id` = OLD.`account_id`;
END;
--> statement-breakpoint
-- Answers kept for an Idempotency-Key hold whole companions, and outlive them.
CREATE TRIGGER `answer_kept` AFTER INSERT ON `idempotency` BEGIN
	UPDATE `account_holdings` SET `answer_bytes` = `answer_bytes` + octet_length(NEW.`body`)
	WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `answer_replaced` AFTER UPDATE OF `body` ON `idempotency` BEGIN
	UPDATE `account_holdings` SET `answer_bytes` = `answer_bytes` + octet_length(NEW.`body`) - octet_length(OLD.`body`)
	WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `answer_dropped` AFTER DELETE ON `idempotency` BEGIN
	UPDATE `account_holdings` SET `answer_bytes` = `answer_bytes` - octet_length(OLD.`body`)
	WHERE `account_id` = OLD.`account_id`;
END;
--> statement-breakpoint
-- Revoked keys stay in the table: those that are held are counted without reading past them.
CREATE INDEX `api_keys_held` ON `api_keys` (`account_number`) WHERE revoked_at IS NULL;
