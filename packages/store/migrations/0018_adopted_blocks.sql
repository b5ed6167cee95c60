ALTER TABLE "ratatosk"."block_events" ALTER COLUMN "commit_transaction_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "ratatosk"."blocks" ALTER COLUMN "commit_transaction_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "ratatosk"."blocks" ALTER COLUMN "commit_transaction" DROP NOT NULL;