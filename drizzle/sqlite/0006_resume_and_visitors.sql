CREATE TABLE `visitor_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`algorithm` text NOT NULL,
	`sealed` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `visitor_keys_account` ON `visitor_keys` (`account_id`,`created_at`);--> statement-breakpoint
ALTER TABLE `companions` ADD `visitor_auth` text DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE `companions` ADD `daily_per_visitor` integer;--> statement-breakpoint
ALTER TABLE `voice_sessions` ADD `sealed_visitor` text;--> statement-breakpoint
ALTER TABLE `conversations` ADD `sealed_visitor` text;--> statement-breakpoint
ALTER TABLE `messages` ADD `client_id` text;--> statement-breakpoint
ALTER TABLE `messages` ADD `end_code` text;--> statement-breakpoint
CREATE INDEX `messages_client` ON `messages` (`conversation_number`,`client_id`) WHERE client_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `visitor_daily` (
	`companion_id` text NOT NULL,
	`day` text NOT NULL,
	`visitor_id` text NOT NULL,
	`messages` integer NOT NULL,
	PRIMARY KEY(`companion_id`, `day`, `visitor_id`)
) STRICT, WITHOUT ROWID;
