CREATE TABLE "visitor_keys" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"algorithm" text COLLATE "C" NOT NULL,
	"sealed" text COLLATE "C",
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "visitor_daily" (
	"companion_id" text COLLATE "C" NOT NULL,
	"day" text COLLATE "C" NOT NULL,
	"visitor_id" text COLLATE "C" NOT NULL,
	"messages" bigint NOT NULL,
	CONSTRAINT "visitor_daily_companion_id_day_visitor_id_pk" PRIMARY KEY("companion_id","day","visitor_id")
);
--> statement-breakpoint
ALTER TABLE "companions" ADD COLUMN "visitor_auth" text COLLATE "C" DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE "companions" ADD COLUMN "daily_per_visitor" integer;--> statement-breakpoint
ALTER TABLE "voice_sessions" ADD COLUMN "sealed_visitor" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "sealed_visitor" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "client_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "end_code" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "open_turns" ADD COLUMN "message_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "open_turns" ADD COLUMN "limited_visitor_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "visitor_keys" ADD CONSTRAINT "visitor_keys_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "visitor_keys_account" ON "visitor_keys" USING btree ("account_id","created_at");--> statement-breakpoint
CREATE INDEX "messages_client" ON "messages" USING btree ("conversation_number","client_id") WHERE client_id IS NOT NULL;