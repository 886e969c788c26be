CREATE TABLE `budget_periods` (
	`budget_id` text NOT NULL,
	`start_day` text NOT NULL,
	`spent_micros` integer DEFAULT 0 NOT NULL,
	`spent_picos` integer DEFAULT 0 NOT NULL,
	`reserved_micros` integer DEFAULT 0 NOT NULL,
	`reached_at` integer,
	PRIMARY KEY(`budget_id`, `start_day`),
	FOREIGN KEY (`budget_id`) REFERENCES `budgets`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `budgets` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`fact` text NOT NULL,
	`facts` text NOT NULL,
	`subject` text NOT NULL,
	`limit_micros` integer NOT NULL,
	`period` text NOT NULL,
	`action` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `budgets_fact` ON `budgets` (`account_id`,`fact`);--> statement-breakpoint
CREATE TABLE `spending_reservations` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`key_id` text NOT NULL,
	`day` text NOT NULL,
	`model` text NOT NULL,
	`provider` text NOT NULL,
	`micros` integer NOT NULL,
	`budget_ids` text NOT NULL,
	`facts` text NOT NULL,
	`instance_number` integer,
	`is_voice` integer NOT NULL,
	`due_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `spending_reservations_due` ON `spending_reservations` (`due_at`);--> statement-breakpoint
CREATE TABLE `spending_stops` (
	`account_id` text PRIMARY KEY NOT NULL,
	`stopped_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `spent_challenges` (
	`signature` text PRIMARY KEY NOT NULL,
	`use` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `spent_challenges_expiry` ON `spent_challenges` (`expires_at`);--> statement-breakpoint
CREATE TABLE `usage_labels` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`metadata` text NOT NULL,
	`is_indexed` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE INDEX `usage_labels_companion` ON `usage_labels` (`companion_id`,`number`);--> statement-breakpoint
CREATE INDEX `usage_labels_account` ON `usage_labels` (`account_id`,`is_indexed`,`number`);--> statement-breakpoint
ALTER TABLE `companions` ADD `daily_messages` integer;--> statement-breakpoint
ALTER TABLE `companions` ADD `monthly_tokens` integer;--> statement-breakpoint
ALTER TABLE `companions` ADD `challenge` text DEFAULT 'off' NOT NULL;--> statement-breakpoint
CREATE INDEX `companions_enabled` ON `companions` (`account_id`,`enabled`,`number`);--> statement-breakpoint
CREATE INDEX `companions_updated` ON `companions` (`account_id`,`updated_at`,`number`);--> statement-breakpoint
ALTER TABLE `voice_sessions` ADD `key_id` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `voice_sessions` ADD `day` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `voice_sessions` ADD `reservation_id` text;--> statement-breakpoint
ALTER TABLE `messages` ADD `model` text;--> statement-breakpoint
ALTER TABLE `messages` ADD `provider` text;--> statement-breakpoint
-- Which conversations changed in which ten minutes. An index on `updated_at` itself would be written by every turn, which
-- costs one 6 % of its time; this is written by the first turn of ten minutes.
CREATE TABLE `conversation_periods` (
	`account_id` text NOT NULL,
	`period` integer NOT NULL,
	`number` integer NOT NULL,
	PRIMARY KEY (`account_id`, `period`, `number`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `conversation_periods` SELECT `account_id`, `updated_at` / 600000, `number` FROM `conversations`;
--> statement-breakpoint
CREATE TRIGGER `conversation_made` AFTER INSERT ON `conversations` BEGIN
	INSERT INTO `conversation_periods` VALUES (NEW.`account_id`, NEW.`updated_at` / 600000, NEW.`number`);
END;
--> statement-breakpoint
CREATE TRIGGER `conversation_changed` AFTER UPDATE OF `updated_at` ON `conversations`
WHEN NEW.`updated_at` / 600000 <> OLD.`updated_at` / 600000 BEGIN
	DELETE FROM `conversation_periods` WHERE `account_id` = OLD.`account_id` AND `period` = OLD.`updated_at` / 600000
		AND `number` = OLD.`number`;
	INSERT INTO `conversation_periods` VALUES (NEW.`account_id`, NEW.`updated_at` / 600000, NEW.`number`);
END;
--> statement-breakpoint
CREATE TRIGGER `conversation_deleted` AFTER DELETE ON `conversations` BEGIN
	DELETE FROM `conversation_periods` WHERE `account_id` = OLD.`account_id` AND `period` = OLD.`updated_at` / 600000
		AND `number` = OLD.`number`;
END;
--> statement-breakpoint
-- As `companion_metadata`, of labels.
CREATE TABLE `usage_label_metadata` (
	`account_number` integer NOT NULL,
	`path` text NOT NULL,
	`value` text NOT NULL,
	`block` integer NOT NULL,
	`members` blob NOT NULL,
	PRIMARY KEY (`account_number`, `path`, `value`, `block`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- What was counted so far belongs to what the companions are now: nobody kept what they were. Their numbers become those
-- of the labels, so that this is one pass; later labels get later numbers.
INSERT INTO `usage_labels` (`number`, `account_id`, `companion_id`, `metadata`)
SELECT c.`number`, c.`account_id`, c.`id`, c.`metadata` FROM `companions` AS c
WHERE c.`metadata` <> '{}' AND EXISTS (
	SELECT 1 FROM `usage_monthly` AS u WHERE u.`account_id` = c.`account_id` AND u.`companion_id` = c.`id`
);
--> statement-breakpoint
CREATE TABLE `new_usage_daily` (
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
	`cached_tokens` integer DEFAULT 0 NOT NULL,
	`cost_micros` integer DEFAULT 0 NOT NULL,
	`cost_picos` integer DEFAULT 0 NOT NULL,
	`unpriced` integer DEFAULT 0 NOT NULL,
	`label` integer DEFAULT 0 NOT NULL,
	`model` text DEFAULT '' NOT NULL,
	`provider` text DEFAULT '' NOT NULL,
	PRIMARY KEY (`account_id`, `companion_id`, `day`, `key_id`, `label`, `model`, `provider`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `new_usage_daily`
SELECT u.`account_id`, u.`companion_id`, u.`day`, u.`key_id`, u.`messages`, u.`requests`, u.`input_tokens`,
	u.`output_tokens`, u.`voice_sessions`, u.`errors`, 0, 0, 0, u.`messages`,
	coalesce((SELECT l.`number` FROM `usage_labels` AS l WHERE l.`companion_id` = u.`companion_id`), 0), '', ''
FROM `usage_daily` AS u;
--> statement-breakpoint
DROP TABLE `usage_daily`;
--> statement-breakpoint
ALTER TABLE `new_usage_daily` RENAME TO `usage_daily`;
--> statement-breakpoint
-- For exports and pages, which go from day to day.
CREATE INDEX `usage_daily_day` ON `usage_daily` (`account_id`, `day`, `companion_id`);
--> statement-breakpoint
CREATE TABLE `new_usage_monthly` (
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
	`cached_tokens` integer DEFAULT 0 NOT NULL,
	`cost_micros` integer DEFAULT 0 NOT NULL,
	`cost_picos` integer DEFAULT 0 NOT NULL,
	`unpriced` integer DEFAULT 0 NOT NULL,
	`label` integer DEFAULT 0 NOT NULL,
	`model` text DEFAULT '' NOT NULL,
	`provider` text DEFAULT '' NOT NULL,
	PRIMARY KEY (`account_id`, `companion_id`, `month`, `key_id`, `label`, `model`, `provider`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `new_usage_monthly`
SELECT u.`account_id`, u.`companion_id`, u.`month`, u.`key_id`, u.`messages`, u.`requests`, u.`input_tokens`,
	u.`output_tokens`, u.`voice_sessions`, u.`errors`, 0, 0, 0, u.`messages`,
	coalesce((SELECT l.`number` FROM `usage_labels` AS l WHERE l.`companion_id` = u.`companion_id`), 0), '', ''
FROM `usage_monthly` AS u;
--> statement-breakpoint
DROP TABLE `usage_monthly`;
--> statement-breakpoint
ALTER TABLE `new_usage_monthly` RENAME TO `usage_monthly`;
--> statement-breakpoint
CREATE TABLE `new_usage_account_daily` (
	`account_id` text NOT NULL,
	`day` text NOT NULL,
	`key_id` text NOT NULL,
	`messages` integer DEFAULT 0 NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`input_tokens` integer DEFAULT 0 NOT NULL,
	`output_tokens` integer DEFAULT 0 NOT NULL,
	`voice_sessions` integer DEFAULT 0 NOT NULL,
	`errors` integer DEFAULT 0 NOT NULL,
	`cached_tokens` integer DEFAULT 0 NOT NULL,
	`cost_micros` integer DEFAULT 0 NOT NULL,
	`cost_picos` integer DEFAULT 0 NOT NULL,
	`unpriced` integer DEFAULT 0 NOT NULL,
	`model` text DEFAULT '' NOT NULL,
	`provider` text DEFAULT '' NOT NULL,
	PRIMARY KEY (`account_id`, `day`, `key_id`, `model`, `provider`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `new_usage_account_daily`
SELECT u.`account_id`, u.`day`, u.`key_id`, u.`messages`, u.`requests`, u.`input_tokens`, u.`output_tokens`,
	u.`voice_sessions`, u.`errors`, 0, 0, 0, u.`messages`, '', ''
FROM `usage_account_daily` AS u;
--> statement-breakpoint
DROP TABLE `usage_account_daily`;
--> statement-breakpoint
ALTER TABLE `new_usage_account_daily` RENAME TO `usage_account_daily`;
