ALTER TABLE "ratatosk"."blocks" ADD COLUMN "first_sequence" bigint NOT NULL;--> statement-breakpoint
ALTER TABLE "ratatosk"."blocks" ADD COLUMN "last_sequence" bigint NOT NULL;--> statement-breakpoint
ALTER TABLE "ratatosk"."blocks" ADD COLUMN "transactions" integer NOT NULL;--> statement-breakpoint
ALTER TABLE "ratatosk"."blocks" ADD COLUMN "commit_transaction_id" "bytea" NOT NULL;--> statement-breakpoint
ALTER TABLE "ratatosk"."blocks" ADD COLUMN "commit_transaction" "bytea" NOT NULL;--> statement-breakpoint
ALTER TABLE "ratatosk"."blocks" ADD COLUMN "merge_transaction_id" "bytea";--> statement-breakpoint
ALTER TABLE "ratatosk"."blocks" ADD COLUMN "merge_transaction" "bytea";--> statement-breakpoint
ALTER TABLE "ratatosk"."blocks" DROP COLUMN "layer1_transaction";--> statement-breakpoint
ALTER TABLE "ratatosk"."blocks" DROP COLUMN "layer1_transaction_hash";