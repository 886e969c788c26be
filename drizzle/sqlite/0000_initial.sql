CREATE TABLE `accounts` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`email` text NOT NULL,
	`plan` text NOT NULL,
	`role` text NOT NULL,
	`password_hash` text,
	`suspended_at` integer,
	`created_at` integer NOT NULL,
	`totp_secret` text,
	`totp_confirmed_at` integer,
	`totp_last_step` integer,
	`name` text,
	`notify_mail` integer DEFAULT true NOT NULL,
	`notify_words` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_id_unique` ON `accounts` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_email_unique` ON `accounts` (`email`);--> statement-breakpoint
CREATE TABLE `applied_companions` (
	`companion_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`set_name` text NOT NULL,
	`fields` text NOT NULL,
	`tools` text NOT NULL,
	`sources` text NOT NULL,
	`is_pruned` integer NOT NULL,
	`version` integer NOT NULL,
	`bytes` integer NOT NULL,
	`applied_at` integer NOT NULL,
	FOREIGN KEY (`companion_id`) REFERENCES `companions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `applied_companions_set` ON `applied_companions` (`account_id`,`set_name`);--> statement-breakpoint
CREATE TABLE `audit` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`ip_prefix` text,
	`request_id` text,
	`actor_member_id` text,
	`actor_name` text,
	`action` text NOT NULL,
	`target_id` text,
	`details` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `audit_id_unique` ON `audit` (`id`);--> statement-breakpoint
CREATE INDEX `audit_account` ON `audit` (`account_id`,`created_at`);--> statement-breakpoint
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
CREATE TABLE `companion_avatars` (
	`companion_id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`image` blob NOT NULL,
	FOREIGN KEY (`companion_id`) REFERENCES `companions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `companion_avatars_hash` ON `companion_avatars` (`hash`);--> statement-breakpoint
CREATE TABLE `companion_drafts` (
	`companion_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`patch` text NOT NULL,
	`base` text NOT NULL,
	`began_version` integer NOT NULL,
	`bytes` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`companion_id`) REFERENCES `companions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `companion_texts` (
	`account_id` text NOT NULL,
	`hash` text NOT NULL,
	`text` text NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`account_id`, `hash`)
);
--> statement-breakpoint
CREATE TABLE `companion_versions` (
	`companion_id` text NOT NULL,
	`number` integer NOT NULL,
	`account_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`actor_type` text,
	`actor_id` text,
	`actor_name` text,
	`via` text,
	`note` text,
	`changed` text NOT NULL,
	`settings` text NOT NULL,
	`system_prompt` text,
	`greeting` text,
	`metadata` text,
	`tools` text,
	`sources` text,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`companion_id`, `number`)
);
--> statement-breakpoint
CREATE INDEX `companion_versions_account` ON `companion_versions` (`account_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `companion_versions_system_prompt` ON `companion_versions` (`system_prompt`);--> statement-breakpoint
CREATE INDEX `companion_versions_greeting` ON `companion_versions` (`greeting`);--> statement-breakpoint
CREATE INDEX `companion_versions_metadata` ON `companion_versions` (`metadata`);--> statement-breakpoint
CREATE INDEX `companion_versions_tools` ON `companion_versions` (`tools`);--> statement-breakpoint
CREATE INDEX `companion_versions_sources` ON `companion_versions` (`sources`);--> statement-breakpoint
CREATE TABLE `companions` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`enabled` integer NOT NULL,
	`slug` text,
	`version` integer DEFAULT 1 NOT NULL,
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
	`reasoning_effort` text,
	`max_output_tokens` integer,
	`context_tokens` integer,
	`retention_days` integer,
	`visitor_auth` text DEFAULT 'off' NOT NULL,
	`daily_per_visitor` integer,
	`daily_messages` integer,
	`monthly_tokens` integer,
	`challenge` text DEFAULT 'off' NOT NULL,
	`answer_mode` text DEFAULT 'free' NOT NULL,
	`citations` text DEFAULT 'footer' NOT NULL,
	`no_answer_text` text,
	`has_sources` integer DEFAULT false NOT NULL,
	`tool_count` integer DEFAULT 0 NOT NULL,
	`had_tools` integer DEFAULT false NOT NULL,
	`appearance` text,
	`handoff` text,
	`leads` text,
	`ratings` integer DEFAULT false NOT NULL,
	`ask_resolved` integer DEFAULT false NOT NULL,
	`avatar_hash` text,
	`avatar_bytes` integer,
	`seen_on` text,
	`had_people` integer DEFAULT false NOT NULL,
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
CREATE UNIQUE INDEX `companions_slug` ON `companions` (`account_id`,`slug`) WHERE slug IS NOT NULL;--> statement-breakpoint
CREATE INDEX `companions_voice_agent` ON `companions` (`voice_agent_id`) WHERE voice_agent_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `companions_enabled` ON `companions` (`account_id`,`enabled`,`number`);--> statement-breakpoint
CREATE INDEX `companions_updated` ON `companions` (`account_id`,`updated_at`,`number`);--> statement-breakpoint
CREATE INDEX `companions_retention` ON `companions` (`retention_days`) WHERE retention_days IS NOT NULL;--> statement-breakpoint
CREATE INDEX `companions_people` ON `companions` (`account_id`) WHERE had_people OR handoff IS NOT NULL;--> statement-breakpoint
CREATE TABLE `contacts` (
	`conversation_number` integer PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`sealed_contact` text NOT NULL,
	`consent_text` text NOT NULL,
	`consented_at` integer NOT NULL,
	`mails` integer DEFAULT 0 NOT NULL,
	`mailed_at` integer,
	`mailed_seq` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`conversation_number`) REFERENCES `conversations`(`number`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `contacts_account` ON `contacts` (`account_id`,`consented_at`,`conversation_number`,`companion_id`);--> statement-breakpoint
CREATE INDEX `contacts_companion` ON `contacts` (`companion_id`,`consented_at`,`conversation_number`);--> statement-breakpoint
CREATE TABLE `conversation_notes` (
	`id` text PRIMARY KEY NOT NULL,
	`conversation_number` integer NOT NULL,
	`author` text NOT NULL,
	`sealed_text` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`conversation_number`) REFERENCES `conversations`(`number`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `conversation_notes_conversation` ON `conversation_notes` (`conversation_number`);--> statement-breakpoint
CREATE TABLE `conversations` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`session_id` text NOT NULL,
	`visitor_id` text NOT NULL,
	`sealed_visitor` text,
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
CREATE TABLE `erased_call_ranges` (
	`first` integer PRIMARY KEY NOT NULL,
	`last` integer NOT NULL,
	`bytes` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `erased_ranges` (
	`first` integer PRIMARY KEY NOT NULL,
	`last` integer NOT NULL,
	`bytes` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `handoff_changes` (
	`account_id` text PRIMARY KEY NOT NULL,
	`change` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `handoff_events` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`conversation_number` integer NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`type` text NOT NULL,
	`by` text NOT NULL,
	`sealed_reason` text,
	`at_ms` integer NOT NULL,
	FOREIGN KEY (`conversation_number`) REFERENCES `conversations`(`number`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `handoff_events_id_unique` ON `handoff_events` (`id`);--> statement-breakpoint
CREATE INDEX `handoff_events_conversation` ON `handoff_events` (`conversation_number`);--> statement-breakpoint
CREATE INDEX `handoff_events_account` ON `handoff_events` (`account_id`,`at_ms`,`type`,`companion_id`);--> statement-breakpoint
CREATE TABLE `handoff_spans` (
	`number` integer PRIMARY KEY NOT NULL,
	`conversation_number` integer NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`kind` text NOT NULL,
	`at_ms` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	FOREIGN KEY (`conversation_number`) REFERENCES `conversations`(`number`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `handoff_spans_conversation` ON `handoff_spans` (`conversation_number`);--> statement-breakpoint
CREATE INDEX `handoff_spans_account` ON `handoff_spans` (`account_id`,`kind`,`at_ms`,`companion_id`,`duration_ms`);--> statement-breakpoint
CREATE TABLE `handoffs` (
	`conversation_number` integer PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`person` text,
	`person_id` text,
	`reserved` text,
	`since_ms` integer,
	`until_ms` integer,
	`owed_since_ms` integer,
	`was_present` integer DEFAULT false NOT NULL,
	`is_asked` integer DEFAULT false NOT NULL,
	`is_offered` integer DEFAULT false NOT NULL,
	`status` text,
	`assignee_id` text,
	`tags` text NOT NULL,
	`reach_seq` integer DEFAULT 0 NOT NULL,
	`returned_at_ms` integer,
	`plain_seq` integer DEFAULT 0 NOT NULL,
	`seen_seq` integer DEFAULT 0 NOT NULL,
	`missed_at_ms` integer,
	`is_resolved` integer,
	`resolved_seq` integer,
	`resolved_at_ms` integer,
	`has_contact` integer DEFAULT false NOT NULL,
	`notice_since_ms` integer,
	`notice_at_ms` integer,
	`noticed_at_ms` integer,
	`answer_mail_at_ms` integer,
	`mail_at_ms` integer,
	`day` text DEFAULT '' NOT NULL,
	`day_messages` integer DEFAULT 0 NOT NULL,
	`change` integer NOT NULL,
	FOREIGN KEY (`conversation_number`) REFERENCES `conversations`(`number`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `handoffs_change` ON `handoffs` (`account_id`,`change`);--> statement-breakpoint
CREATE INDEX `handoffs_until` ON `handoffs` (`until_ms`) WHERE until_ms IS NOT NULL;--> statement-breakpoint
CREATE INDEX `handoffs_mail` ON `handoffs` (`mail_at_ms`) WHERE mail_at_ms IS NOT NULL;--> statement-breakpoint
CREATE INDEX `handoffs_resolved` ON `handoffs` (`account_id`,`resolved_at_ms`,`companion_id`) WHERE resolved_at_ms IS NOT NULL;--> statement-breakpoint
CREATE INDEX `handoffs_owed` ON `handoffs` (`owed_since_ms`) WHERE state = 'person' AND owed_since_ms IS NOT NULL;--> statement-breakpoint
CREATE INDEX `handoffs_held` ON `handoffs` (`companion_id`) WHERE state <> 'companion';--> statement-breakpoint
CREATE INDEX `handoffs_person` ON `handoffs` (`person_id`) WHERE person_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `handoffs_account` ON `handoffs` (`account_id`);--> statement-breakpoint
CREATE INDEX `handoffs_state` ON `handoffs` (`account_id`,`state`) WHERE state <> 'companion';--> statement-breakpoint
CREATE INDEX `handoffs_status` ON `handoffs` (`account_id`,`status`) WHERE status IS NOT NULL;--> statement-breakpoint
CREATE TABLE `knowledge_documents` (
	`edition` integer NOT NULL,
	`place` integer NOT NULL,
	`url` text,
	`title` text NOT NULL,
	`content_hash` text NOT NULL,
	`etag` text,
	`last_modified` text,
	`first_ordinal` integer NOT NULL,
	`chunks` integer NOT NULL,
	PRIMARY KEY(`edition`, `place`)
);
--> statement-breakpoint
CREATE TABLE `knowledge_editions` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`source_number` integer NOT NULL,
	`model` text,
	`is_embedded` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `knowledge_editions_source` ON `knowledge_editions` (`source_number`);--> statement-breakpoint
CREATE INDEX `knowledge_editions_embedded` ON `knowledge_editions` (`is_embedded`,`model`);--> statement-breakpoint
CREATE TABLE `knowledge_parts` (
	`edition` integer NOT NULL,
	`first_ordinal` integer NOT NULL,
	`body` blob NOT NULL,
	PRIMARY KEY(`edition`, `first_ordinal`)
);
--> statement-breakpoint
CREATE TABLE `knowledge_sources` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`slug` text,
	`type` text NOT NULL,
	`title` text NOT NULL,
	`url` text,
	`refresh_hours` integer,
	`status` text NOT NULL,
	`error` text,
	`chunks` integer DEFAULT 0 NOT NULL,
	`bytes` integer DEFAULT 0 NOT NULL,
	`tokens` integer DEFAULT 0 NOT NULL,
	`words` integer DEFAULT 0 NOT NULL,
	`content_hash` text,
	`upload_hash` text,
	`edition` integer,
	`revision` integer DEFAULT 1 NOT NULL,
	`kind` text,
	`upload_id` text,
	`upload_bytes` integer DEFAULT 0 NOT NULL,
	`pages_done` integer,
	`pages_total` integer,
	`due_at` integer,
	`failures` integer DEFAULT 0 NOT NULL,
	`indexed_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `knowledge_sources_id_unique` ON `knowledge_sources` (`id`);--> statement-breakpoint
CREATE INDEX `knowledge_sources_companion` ON `knowledge_sources` (`companion_id`,`number`);--> statement-breakpoint
CREATE UNIQUE INDEX `knowledge_sources_slug` ON `knowledge_sources` (`companion_id`,`slug`) WHERE slug IS NOT NULL;--> statement-breakpoint
CREATE INDEX `knowledge_sources_due` ON `knowledge_sources` (`due_at`,`number`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `knowledge_sources_turns` ON `knowledge_sources` (`account_id`,`due_at`,`number`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `knowledge_sources_upload` ON `knowledge_sources` (`upload_id`) WHERE upload_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `knowledge_turns` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`conversation_number` integer NOT NULL,
	`message_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`group_id` text,
	`seen` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `knowledge_turns_conversation` ON `knowledge_turns` (`conversation_number`,`message_id`);--> statement-breakpoint
CREATE INDEX `knowledge_turns_unanswered` ON `knowledge_turns` (`companion_id`,`group_id`,`created_at`,`conversation_number`) WHERE group_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `knowledge_turns_oldest` ON `knowledge_turns` (`companion_id`,`number`) WHERE group_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `knowledge_uploads` (
	`upload_id` text NOT NULL,
	`piece` integer NOT NULL,
	`created_at` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`upload_id`, `piece`)
);
--> statement-breakpoint
CREATE TABLE `knowledge_vectors` (
	`edition` integer NOT NULL,
	`first_ordinal` integer NOT NULL,
	`vectors` blob NOT NULL,
	PRIMARY KEY(`edition`, `first_ordinal`)
);
--> statement-breakpoint
CREATE TABLE `mail_days` (
	`account_id` text PRIMARY KEY NOT NULL,
	`day` text NOT NULL,
	`mails` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `mails` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text,
	`conversation_id` text,
	`member_id` text,
	`kind` text NOT NULL,
	`sealed` text,
	`tries` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL,
	`expires_at` integer,
	`problem` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`companion_id`) REFERENCES `companions`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`conversation_id`) REFERENCES `conversations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `mails_id_unique` ON `mails` (`id`);--> statement-breakpoint
CREATE INDEX `mails_due` ON `mails` (`due_at`) WHERE problem IS NULL;--> statement-breakpoint
CREATE INDEX `mails_account` ON `mails` (`account_id`,`member_id`);--> statement-breakpoint
CREATE INDEX `mails_companion` ON `mails` (`companion_id`) WHERE companion_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mails_conversation` ON `mails` (`conversation_id`) WHERE conversation_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `members` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`email` text NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`companion_ids` text,
	`notify_mail` integer DEFAULT true NOT NULL,
	`notify_words` integer DEFAULT false NOT NULL,
	`password_hash` text,
	`totp_secret` text,
	`totp_confirmed_at` integer,
	`totp_last_step` integer,
	`joined_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `members_account` ON `members` (`account_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `members_joined` ON `members` (`email`) WHERE joined_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `message_authors` (
	`conversation_number` integer NOT NULL,
	`seq` integer NOT NULL,
	`message_id` text NOT NULL,
	`author` text NOT NULL,
	`client_id` text NOT NULL,
	PRIMARY KEY(`conversation_number`, `seq`),
	FOREIGN KEY (`conversation_number`) REFERENCES `conversations`(`number`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `message_authors_client` ON `message_authors` (`conversation_number`,`client_id`);--> statement-breakpoint
CREATE TABLE `messages` (
	`number` integer PRIMARY KEY NOT NULL,
	`conversation_number` integer NOT NULL,
	`id` text NOT NULL,
	`role` text NOT NULL,
	`channel` text NOT NULL,
	`complete` integer NOT NULL,
	`input_tokens` integer,
	`output_tokens` integer,
	`model` text,
	`provider` text,
	`tokens_estimated` integer NOT NULL,
	`created_at` integer NOT NULL,
	`text` text NOT NULL,
	`client_id` text,
	`end_code` text,
	`finish_reason` text,
	`companion_version` integer,
	`repeats` integer,
	`seq` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `messages_conversation` ON `messages` (`conversation_number`,`created_at`);--> statement-breakpoint
CREATE INDEX `messages_client` ON `messages` (`conversation_number`,`client_id`) WHERE client_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `one_time_links` (
	`hash` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`account_id` text,
	`member_id` text,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `presence` (
	`person_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`person` text NOT NULL,
	`is_available` integer NOT NULL,
	`seen_at_ms` integer,
	`until_ms` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `presence_account` ON `presence` (`account_id`);--> statement-breakpoint
CREATE TABLE `ratings` (
	`conversation_number` integer NOT NULL,
	`client_id` text NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`rating` text NOT NULL,
	`reasons` text NOT NULL,
	`sealed_comment` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`conversation_number`, `client_id`),
	FOREIGN KEY (`conversation_number`) REFERENCES `conversations`(`number`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `ratings_account` ON `ratings` (`account_id`,`created_at`,`rating`,`companion_id`);--> statement-breakpoint
CREATE INDEX `ratings_rating` ON `ratings` (`account_id`,`rating`,`conversation_number`);--> statement-breakpoint
CREATE TABLE `read_marks` (
	`conversation_number` integer NOT NULL,
	`person_id` text NOT NULL,
	`seq` integer NOT NULL,
	PRIMARY KEY(`conversation_number`, `person_id`),
	FOREIGN KEY (`conversation_number`) REFERENCES `conversations`(`number`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`account_id` text NOT NULL,
	`hash` text NOT NULL,
	`member_id` text,
	PRIMARY KEY(`account_id`, `hash`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `removals` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`target_id` text NOT NULL,
	`target_number` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `server_secrets` (
	`name` text PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`member_id` text,
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
	`repeats_left` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `spent_challenges_expiry` ON `spent_challenges` (`expires_at`);--> statement-breakpoint
CREATE TABLE `tool_call_texts` (
	`number` integer PRIMARY KEY NOT NULL,
	`call_number` integer NOT NULL,
	`is_result` integer NOT NULL,
	`text` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `tool_call_texts_call` ON `tool_call_texts` (`call_number`);--> statement-breakpoint
CREATE TABLE `tool_calls` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tool_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`session_id` text NOT NULL,
	`visitor_id` text NOT NULL,
	`conversation_number` integer,
	`reply_id` text NOT NULL,
	`message_id` text,
	`tool` text NOT NULL,
	`state` text NOT NULL,
	`is_asked` integer NOT NULL,
	`duration_ms` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tool_calls_id_unique` ON `tool_calls` (`id`);--> statement-breakpoint
CREATE INDEX `tool_calls_tool` ON `tool_calls` (`tool_id`,`id`);--> statement-breakpoint
CREATE INDEX `tool_calls_waiting` ON `tool_calls` (`tool_id`) WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX `tool_calls_reply` ON `tool_calls` (`reply_id`);--> statement-breakpoint
CREATE INDEX `tool_calls_conversation` ON `tool_calls` (`conversation_number`,`message_id`) WHERE conversation_number IS NOT NULL;--> statement-breakpoint
CREATE INDEX `tool_calls_open_key` ON `tool_calls` (`companion_id`,`visitor_id`,`session_id`,`message_id`) WHERE conversation_number IS NULL;--> statement-breakpoint
CREATE INDEX `tool_calls_open` ON `tool_calls` (`created_at`) WHERE conversation_number IS NULL AND created_at > 0;--> statement-breakpoint
CREATE TABLE `tools` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`name` text NOT NULL,
	`title` text NOT NULL,
	`type` text NOT NULL,
	`url` text NOT NULL,
	`description` text,
	`parameters` text,
	`offered` text,
	`sealed_headers` text,
	`header_names` text NOT NULL,
	`sealed_secret` text NOT NULL,
	`timeout_ms` integer NOT NULL,
	`confirm` integer NOT NULL,
	`requires_visitor` integer NOT NULL,
	`bytes` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`companion_id`) REFERENCES `companions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tools_name` ON `tools` (`companion_id`,`name`);--> statement-breakpoint
CREATE INDEX `tools_account` ON `tools` (`account_id`);--> statement-breakpoint
CREATE TABLE `usage_labels` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` text NOT NULL,
	`companion_id` text NOT NULL,
	`metadata` text NOT NULL,
	`day` text NOT NULL,
	`is_indexed` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE INDEX `usage_labels_companion` ON `usage_labels` (`companion_id`,`number`);--> statement-breakpoint
CREATE INDEX `usage_labels_account` ON `usage_labels` (`account_id`,`is_indexed`,`number`);--> statement-breakpoint
CREATE TABLE `visitor_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`algorithm` text NOT NULL,
	`metadata` text,
	`fact` text NOT NULL,
	`filter_hash` text NOT NULL,
	`sealed` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `visitor_keys_account` ON `visitor_keys` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `visitor_keys_fact` ON `visitor_keys` (`fact`);--> statement-breakpoint
CREATE INDEX `visitor_keys_filter` ON `visitor_keys` (`filter_hash`);--> statement-breakpoint
CREATE TABLE `voice_agent_grants` (
	`account_id` text NOT NULL,
	`agent_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `agent_id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
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
	`sealed_visitor` text,
	`created_at` integer NOT NULL,
	`key_id` text DEFAULT '' NOT NULL,
	`day` text DEFAULT '' NOT NULL,
	`reservation_id` text,
	`is_taken` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE INDEX `voice_sessions_visitor` ON `voice_sessions` (`companion_id`,`visitor_id`);--> statement-breakpoint
CREATE INDEX `voice_sessions_created` ON `voice_sessions` (`created_at`);--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`number` integer PRIMARY KEY NOT NULL,
	`webhook_id` text NOT NULL,
	`id` text NOT NULL,
	`type` text NOT NULL,
	`companion_id` text,
	`conversation_id` text,
	`session_id` text,
	`visitor_id` text,
	`sealed_visitor` text,
	`data` text,
	`content` text,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`due_at` integer,
	`status` integer,
	`problem` text,
	`created_at` integer NOT NULL,
	`attempted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_id` ON `webhook_deliveries` (`webhook_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_webhook` ON `webhook_deliveries` (`webhook_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_waiting` ON `webhook_deliveries` (`webhook_id`,`conversation_id`) WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_conversation` ON `webhook_deliveries` (`conversation_id`) WHERE conversation_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_visitor` ON `webhook_deliveries` (`companion_id`,`visitor_id`) WHERE companion_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`url` text NOT NULL,
	`events` text NOT NULL,
	`include_content` integer NOT NULL,
	`metadata` text,
	`facts` text NOT NULL,
	`enabled` integer NOT NULL,
	`disabled_reason` text,
	`sealed_secret` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `webhooks_account` ON `webhooks` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhooks_enabled` ON `webhooks` (`account_id`,`id`) WHERE enabled;
--> statement-breakpoint
-- By hand from here on.
-- Tables that are their own index: looked up or updated by their whole key on hot paths.

-- API keys by their hash: one search finds all that a check needs. Which key made a key, which one took its place, and
-- how an owner tells two of one name apart.
CREATE TABLE `api_keys` (
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
	`last_four` text,
	`created_by_key_id` text,
	`replaces_key_id` text,
	`replaced_by_key_id` text,
	`replaced_at` integer,
	FOREIGN KEY (`account_number`) REFERENCES `accounts`(`number`) ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_id` ON `api_keys` (`id`);
--> statement-breakpoint
CREATE INDEX `api_keys_account` ON `api_keys` (`account_number`);
--> statement-breakpoint
-- Revoked keys stay in the table: those that are held are counted without reading past them.
CREATE INDEX `api_keys_held` ON `api_keys` (`account_number`) WHERE revoked_at IS NULL;
--> statement-breakpoint
CREATE INDEX `api_keys_created_by` ON `api_keys` (`created_by_key_id`) WHERE created_by_key_id IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `api_keys_replaces` ON `api_keys` (`replaces_key_id`) WHERE replaces_key_id IS NOT NULL;
--> statement-breakpoint
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
CREATE UNIQUE INDEX `embed_tokens_id` ON `embed_tokens` (`id`);
--> statement-breakpoint
CREATE INDEX `embed_tokens_companion` ON `embed_tokens` (`companion_id`);
--> statement-breakpoint
-- What each account holds, counted by triggers as rows come and go: no way of writing can pass it by.
CREATE TABLE `account_holdings` (
	`account_id` text PRIMARY KEY NOT NULL,
	`companions` integer DEFAULT 0 NOT NULL,
	`companion_bytes` integer DEFAULT 0 NOT NULL,
	`answer_bytes` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
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
	`cached_tokens` integer DEFAULT 0 NOT NULL,
	`cost_micros` integer DEFAULT 0 NOT NULL,
	`cost_picos` integer DEFAULT 0 NOT NULL,
	`unpriced` integer DEFAULT 0 NOT NULL,
	`reasoning_tokens` integer DEFAULT 0 NOT NULL,
	`cache_write_tokens` integer DEFAULT 0 NOT NULL,
	`label` integer DEFAULT 0 NOT NULL,
	`model` text DEFAULT '' NOT NULL,
	`provider` text DEFAULT '' NOT NULL,
	PRIMARY KEY (`account_id`, `companion_id`, `day`, `key_id`, `label`, `model`, `provider`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- For exports and pages, which go from day to day.
CREATE INDEX `usage_daily_day` ON `usage_daily` (`account_id`, `day`, `companion_id`);
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
	`cached_tokens` integer DEFAULT 0 NOT NULL,
	`cost_micros` integer DEFAULT 0 NOT NULL,
	`cost_picos` integer DEFAULT 0 NOT NULL,
	`unpriced` integer DEFAULT 0 NOT NULL,
	`reasoning_tokens` integer DEFAULT 0 NOT NULL,
	`cache_write_tokens` integer DEFAULT 0 NOT NULL,
	`label` integer DEFAULT 0 NOT NULL,
	`model` text DEFAULT '' NOT NULL,
	`provider` text DEFAULT '' NOT NULL,
	PRIMARY KEY (`account_id`, `companion_id`, `month`, `key_id`, `label`, `model`, `provider`)
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
	`cached_tokens` integer DEFAULT 0 NOT NULL,
	`cost_micros` integer DEFAULT 0 NOT NULL,
	`cost_picos` integer DEFAULT 0 NOT NULL,
	`unpriced` integer DEFAULT 0 NOT NULL,
	`reasoning_tokens` integer DEFAULT 0 NOT NULL,
	`cache_write_tokens` integer DEFAULT 0 NOT NULL,
	`model` text DEFAULT '' NOT NULL,
	`provider` text DEFAULT '' NOT NULL,
	PRIMARY KEY (`account_id`, `day`, `key_id`, `model`, `provider`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `quota_daily` (
	`companion_id` text NOT NULL,
	`day` text NOT NULL,
	`messages` integer NOT NULL,
	`voice_sessions` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY (`companion_id`, `day`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `visitor_daily` (
	`companion_id` text NOT NULL,
	`day` text NOT NULL,
	`visitor_id` text NOT NULL,
	`messages` integer NOT NULL,
	PRIMARY KEY(`companion_id`, `day`, `visitor_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `failed_replies` (
	`account_id` text NOT NULL,
	`day` text NOT NULL,
	`companion_id` text NOT NULL,
	`kind` text NOT NULL,
	`replies` integer NOT NULL,
	PRIMARY KEY (`account_id`, `day`, `companion_id`, `kind`)
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
--> statement-breakpoint
-- Which conversations changed in which ten minutes. An index on `updated_at` itself would be written by every turn, which
-- costs one 6 % of its time; this is written by the first turn of ten minutes.
CREATE TABLE `conversation_periods` (
	`account_id` text NOT NULL,
	`period` integer NOT NULL,
	`number` integer NOT NULL,
	PRIMARY KEY (`account_id`, `period`, `number`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `knowledge_postings` (
	`edition` integer NOT NULL,
	`block` integer NOT NULL,
	`term` integer NOT NULL,
	`entries` blob NOT NULL,
	PRIMARY KEY(`edition`, `term`, `block`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- What owners write into a companion, in bytes of UTF-8.
ALTER TABLE `companions` ADD `bytes` integer GENERATED ALWAYS AS (
	octet_length(`name`) + octet_length(`allowed_origins`) + octet_length(`starters`) + octet_length(`metadata`)
	+ coalesce(octet_length(`system_prompt`), 0) + coalesce(octet_length(`greeting`), 0)
	+ coalesce(octet_length(`avatar_url`), 0) + coalesce(octet_length(`theme_color`), 0)
	+ coalesce(octet_length(`voice_id`), 0) + coalesce(octet_length(`voice_agent_id`), 0)
	+ coalesce(octet_length(`model`), 0)
	+ coalesce(octet_length(`no_answer_text`), 0)
	+ coalesce(octet_length(`handoff`), 0) + coalesce(octet_length(`leads`), 0) + coalesce(octet_length(`appearance`), 0)
	+ coalesce(`avatar_bytes`, 0)
) VIRTUAL;
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
	`voice_agent_id`, `model`, `no_answer_text`, `handoff`, `leads`, `appearance`, `avatar_bytes`
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
-- What an account holds includes its sources: the text that answers, and uploads: those still to be read, and texts as written.
CREATE TRIGGER `source_made` AFTER INSERT ON `knowledge_sources` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + NEW.`bytes` + NEW.`upload_bytes`
	WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `source_changed` AFTER UPDATE OF `bytes`, `upload_bytes` ON `knowledge_sources` BEGIN
	UPDATE `account_holdings`
	SET `companion_bytes` = `companion_bytes` + NEW.`bytes` + NEW.`upload_bytes` - OLD.`bytes` - OLD.`upload_bytes`
	WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `source_deleted` AFTER DELETE ON `knowledge_sources` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` - OLD.`bytes` - OLD.`upload_bytes`
	WHERE `account_id` = OLD.`account_id`;
END;
--> statement-breakpoint
-- And its tools.
CREATE TRIGGER `tool_made` AFTER INSERT ON `tools` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + NEW.`bytes` WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `tool_changed` AFTER UPDATE OF `bytes` ON `tools` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + NEW.`bytes` - OLD.`bytes`
	WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `tool_deleted` AFTER DELETE ON `tools` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` - OLD.`bytes` WHERE `account_id` = OLD.`account_id`;
END;
--> statement-breakpoint
-- And what it was: versions, their texts, drafts, and what files have set.
CREATE TRIGGER `version_made` AFTER INSERT ON `companion_versions` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + NEW.`bytes` WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `version_changed` AFTER UPDATE OF `bytes` ON `companion_versions` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + NEW.`bytes` - OLD.`bytes`
	WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `version_deleted` AFTER DELETE ON `companion_versions` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` - OLD.`bytes` WHERE `account_id` = OLD.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `text_made` AFTER INSERT ON `companion_texts` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + NEW.`bytes` WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `text_changed` AFTER UPDATE OF `bytes` ON `companion_texts` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + NEW.`bytes` - OLD.`bytes`
	WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `text_deleted` AFTER DELETE ON `companion_texts` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` - OLD.`bytes` WHERE `account_id` = OLD.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `draft_made` AFTER INSERT ON `companion_drafts` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + NEW.`bytes` WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `draft_changed` AFTER UPDATE OF `bytes` ON `companion_drafts` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + NEW.`bytes` - OLD.`bytes`
	WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `draft_deleted` AFTER DELETE ON `companion_drafts` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` - OLD.`bytes` WHERE `account_id` = OLD.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `applied_made` AFTER INSERT ON `applied_companions` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + NEW.`bytes` WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `applied_changed` AFTER UPDATE OF `bytes` ON `applied_companions` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + NEW.`bytes` - OLD.`bytes`
	WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `applied_deleted` AFTER DELETE ON `applied_companions` BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` - OLD.`bytes` WHERE `account_id` = OLD.`account_id`;
END;
--> statement-breakpoint
-- What was recorded is held too: each change of metadata may be kept for every message. What is recorded because a companion
-- goes has no day, and is not counted: going makes room.
CREATE TRIGGER `label_made` AFTER INSERT ON `usage_labels` WHEN NEW.`day` <> '' BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` + octet_length(NEW.`metadata`)
	WHERE `account_id` = NEW.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `label_deleted` AFTER DELETE ON `usage_labels` WHEN OLD.`day` <> '' BEGIN
	UPDATE `account_holdings` SET `companion_bytes` = `companion_bytes` - octet_length(OLD.`metadata`)
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
