ALTER TABLE "ratatosk"."dropped_transactions" ADD COLUMN "reopenings" integer DEFAULT 1000 NOT NULL;--> statement-breakpoint
ALTER TABLE "ratatosk"."rejections" ADD COLUMN "spent_by" "bytea";--> statement-breakpoint
ALTER TABLE "ratatosk"."rejections" ADD COLUMN "reopened_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "dropped_transactions_reopenings" ON "ratatosk"."dropped_transactions" USING btree ("number") WHERE "ratatosk"."dropped_transactions"."reopenings" > 0;--> statement-breakpoint
CREATE INDEX "rejections_spent_by" ON "ratatosk"."rejections" USING btree ("spent_by","sequence") WHERE "ratatosk"."rejections"."spent_by" IS NOT NULL AND "ratatosk"."rejections"."cbor" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "spent_outputs_reference" ON "ratatosk"."spent_outputs" USING hash (("transaction_id" || int4send("output_index")));