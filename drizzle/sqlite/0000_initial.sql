CREATE TABLE `accounts` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`email` text NOT NULL,
	`plan` text NOT NULL,
	`role` text NOT NULL,
	`password_hash` text,
	`suspended_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_id_unique` ON `accounts` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_email_unique` ON `accounts` (`email`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`start` text NOT NULL,
	`hash` text NOT NULL,
	`scopes` text NOT NULL,
	`expires_at` integer,
	`last_used_at` integer,
	`requests` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash_unique` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_account` ON `api_keys` (`account_id`);--> statement-breakpoint
CREATE TABLE `audit` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`ip_prefix` text,
	`request_id` text,
	`action` text NOT NULL,
	`target_id` text,
	`details` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `audit_id_unique` ON `audit` (`id`);--> statement-breakpoint
CREATE INDEX `audit_account` ON `audit` (`account_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `one_time_links` (
	`hash` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`account_id` text,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`hash` text NOT NULL,
	`user_agent` text,
	`ip_prefix` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_hash_unique` ON `sessions` (`hash`);--> statement-breakpoint
CREATE INDEX `sessions_account` ON `sessions` (`account_id`);--> statement-breakpoint
CREATE TABLE `companions` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`enabled` integer NOT NULL,
	`name` text NOT NULL,
	`name_folded` text NOT NULL,
	`embed_token` text,
	`greeting` text,
	`avatar_url` text,
	`theme_color` text,
	`voice_id` text,
	`voice_agent_id` text,
	`model` text,
	`temperature` real,
	`max_output_tokens` integer,
	`context_tokens` integer,
	`retention_days` integer,
	`created_by_key_id` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`allowed_origins` text NOT NULL,
	`starters` text NOT NULL,
	`metadata` text NOT NULL,
	`system_prompt` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `companions_id_unique` ON `companions` (`id`);--> statement-breakpoint
CREATE INDEX `companions_account` ON `companions` (`account_id`,`number`,`name_folded`);--> statement-breakpoint
CREATE INDEX `companions_voice_agent` ON `companions` (`voice_agent_id`) WHERE voice_agent_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `companions_retention` ON `companions` (`retention_days`) WHERE retention_days IS NOT NULL;--> statement-breakpoint
CREATE TABLE `voice_agent_locks` (
	`companion_id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`until_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `voice_agents` (
	`companion_id` text PRIMARY KEY NOT NULL,
	`provider` text NOT NULL,
	`agent_id` text NOT NULL,
	`settings_hash` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `voice_agents_agent` ON `voice_agents` (`agent_id`);--> statement-breakpoint
CREATE TABLE `voice_outbox` (
	`provider` text NOT NULL,
	`agent_id` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL,
	PRIMARY KEY(`provider`, `agent_id`)
);
--> statement-breakpoint
CREATE INDEX `voice_outbox_due` ON `voice_outbox` (`due_at`);--> statement-breakpoint
CREATE INDEX `voice_outbox_agent` ON `voice_outbox` (`agent_id`);--> statement-breakpoint
CREATE TABLE `voice_sessions` (
	`provider_conversation_id` text PRIMARY KEY NOT NULL,
	`companion_id` text NOT NULL,
	`account_id` text NOT NULL,
	`session_id` text NOT NULL,
	`visitor_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`is_taken` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE INDEX `voice_sessions_visitor` ON `voice_sessions` (`companion_id`,`visitor_id`);--> statement-breakpoint
CREATE INDEX `voice_sessions_created` ON `voice_sessions` (`created_at`);--> statement-breakpoint
CREATE TABLE `conversations` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`session_id` text NOT NULL,
	`visitor_id` text NOT NULL,
	`message_count` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `conversations_id_unique` ON `conversations` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `conversations_key` ON `conversations` (`companion_id`,`session_id`,`visitor_id`);--> statement-breakpoint
CREATE INDEX `conversations_account` ON `conversations` (`account_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `conversations_companion` ON `conversations` (`companion_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `conversations_visitor` ON `conversations` (`account_id`,`visitor_id`,`created_at`) WHERE visitor_id <> '';--> statement-breakpoint
CREATE TABLE `erased_ranges` (
	`first` integer PRIMARY KEY NOT NULL,
	`last` integer NOT NULL,
	`bytes` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `messages` (
	`number` integer PRIMARY KEY NOT NULL,
	`conversation_number` integer NOT NULL,
	`id` text NOT NULL,
	`role` text NOT NULL,
	`channel` text NOT NULL,
	`complete` integer NOT NULL,
	`input_tokens` integer,
	`output_tokens` integer,
	`tokens_estimated` integer NOT NULL,
	`created_at` integer NOT NULL,
	`text` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `messages_conversation` ON `messages` (`conversation_number`,`created_at`);--> statement-breakpoint
CREATE TABLE `removals` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`target_id` text NOT NULL,
	`target_number` integer NOT NULL,
	`created_at` integer NOT NULL
);
