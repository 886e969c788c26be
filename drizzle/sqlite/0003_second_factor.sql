CREATE TABLE `recovery_codes` (
	`account_id` text NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`account_id`, `hash`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `server_secrets` (
	`name` text PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `voice_agent_grants` (
	`account_id` text NOT NULL,
	`agent_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `agent_id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `accounts` ADD `totp_secret` text;--> statement-breakpoint
ALTER TABLE `accounts` ADD `totp_confirmed_at` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `totp_last_step` integer;