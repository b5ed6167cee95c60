CREATE TABLE "ratatosk"."kept_bodies" (
	"header_hash" "bytea" PRIMARY KEY NOT NULL,
	"transactions" "bytea" NOT NULL,
	"end_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."kept_transactions" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"transaction_id" "bytea" NOT NULL,
	"cbor" "bytea" NOT NULL,
	"end_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "kept_bodies_end_time" ON "ratatosk"."kept_bodies" USING btree ("end_time");--> statement-breakpoint
CREATE INDEX "kept_transactions_transaction_id" ON "ratatosk"."kept_transactions" USING btree ("transaction_id");--> statement-breakpoint
CREATE INDEX "kept_transactions_end_time" ON "ratatosk"."kept_transactions" USING btree ("end_time");