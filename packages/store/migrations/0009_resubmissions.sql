CREATE TABLE "ratatosk"."resubmissions" (
	"sequence" bigint PRIMARY KEY NOT NULL,
	"transaction_id" "bytea" NOT NULL,
	"cbor" "bytea",
	"header_hash" "bytea",
	"height" bigint,
	"removed_at" timestamp with time zone DEFAULT now() NOT NULL,
	"submission_id" text,
	"queued_at" timestamp with time zone,
	CONSTRAINT "resubmissions_id_size" CHECK (octet_length("ratatosk"."resubmissions"."transaction_id") = 32),
	CONSTRAINT "resubmissions_queued" CHECK (("ratatosk"."resubmissions"."cbor" IS NULL) = ("ratatosk"."resubmissions"."submission_id" IS NOT NULL))
);
--> statement-breakpoint
CREATE INDEX "resubmissions_transaction_id" ON "ratatosk"."resubmissions" USING btree ("transaction_id","sequence");--> statement-breakpoint
CREATE INDEX "resubmissions_waiting" ON "ratatosk"."resubmissions" USING btree ("sequence") WHERE "ratatosk"."resubmissions"."cbor" IS NOT NULL;