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
ALTER TABLE `companions` ADD `answer_mode` text DEFAULT 'free' NOT NULL;--> statement-breakpoint
ALTER TABLE `companions` ADD `citations` text DEFAULT 'footer' NOT NULL;--> statement-breakpoint
ALTER TABLE `companions` ADD `no_answer_text` text;--> statement-breakpoint
ALTER TABLE `companions` ADD `has_sources` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE TABLE `knowledge_postings` (
	`edition` integer NOT NULL,
	`block` integer NOT NULL,
	`term` integer NOT NULL,
	`entries` blob NOT NULL,
	PRIMARY KEY(`edition`, `term`, `block`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- What an account holds includes its sources: the text that answers, and uploads that are still to be read.
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
