CREATE SCHEMA "ratatosk";
--> statement-breakpoint
CREATE TYPE "ratatosk"."block_state" AS ENUM('built', 'submitted', 'committed', 'mature', 'merged', 'removed');--> statement-breakpoint
CREATE TYPE "ratatosk"."faucet_claim_state" AS ENUM('reserved', 'funded', 'failed');--> statement-breakpoint
CREATE TYPE "ratatosk"."verdict_stage" AS ENUM('question', 'datum', 'verdict', 'removal', 'prune');--> statement-breakpoint
CREATE TYPE "ratatosk"."verdict_state" AS ENUM('unavailable', 'valid', 'invalid', 'unprovable', 'removing', 'removed');--> statement-breakpoint
CREATE SEQUENCE "ratatosk"."accept_sequence" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE SEQUENCE "ratatosk"."rejection_sequence" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE SEQUENCE "ratatosk"."faucet_payment_sequence" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "ratatosk"."address_history" (
	"address" "bytea" NOT NULL,
	"sequence" bigint NOT NULL,
	CONSTRAINT "address_history_address_sequence_pk" PRIMARY KEY("address","sequence")
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."answers" (
	"question" "bytea" NOT NULL,
	"stage" integer NOT NULL,
	"transaction_id" "bytea" NOT NULL,
	"cbor" "bytea" NOT NULL,
	"recorded_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "answers_question_stage_pk" PRIMARY KEY("question","stage"),
	CONSTRAINT "answers_stage" CHECK ("ratatosk"."answers"."stage" IN (0, 1))
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."archived_blocks" (
	"height" bigint PRIMARY KEY NOT NULL,
	"header_hash" "bytea" NOT NULL,
	"header" "bytea" NOT NULL,
	"body" "bytea" NOT NULL,
	"merged" boolean NOT NULL,
	"archived_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "archived_blocks_header_hash_unique" UNIQUE("header_hash"),
	CONSTRAINT "archived_blocks_height" CHECK ("ratatosk"."archived_blocks"."height" >= 1),
	CONSTRAINT "archived_blocks_header_hash_size" CHECK (octet_length("ratatosk"."archived_blocks"."header_hash") = 28)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."block_events" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ratatosk"."block_events_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"header_hash" "bytea" NOT NULL,
	"height" bigint NOT NULL,
	"state" "ratatosk"."block_state" NOT NULL,
	"transactions" integer NOT NULL,
	"first_sequence" bigint NOT NULL,
	"last_sequence" bigint NOT NULL,
	"end_time" bigint NOT NULL,
	"commit_transaction_id" "bytea",
	"merge_transaction_id" "bytea",
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."block_transactions" (
	"block_id" bigint NOT NULL,
	"position" integer NOT NULL,
	"sequence" bigint NOT NULL,
	"event_sequence" bigint NOT NULL,
	"transaction_id" "bytea" NOT NULL,
	"cbor" "bytea" NOT NULL,
	"accepted_at" timestamp with time zone NOT NULL,
	CONSTRAINT "block_transactions_block_id_position_pk" PRIMARY KEY("block_id","position"),
	CONSTRAINT "block_transactions_sequence_unique" UNIQUE("sequence"),
	CONSTRAINT "block_transactions_event_sequence_unique" UNIQUE("event_sequence"),
	CONSTRAINT "block_transactions_transaction_id_unique" UNIQUE("transaction_id"),
	CONSTRAINT "block_transactions_id_size" CHECK (octet_length("ratatosk"."block_transactions"."transaction_id") = 32)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."blocks" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ratatosk"."blocks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"height" bigint NOT NULL,
	"state" "ratatosk"."block_state" NOT NULL,
	"header_hash" "bytea" NOT NULL,
	"header" "bytea" NOT NULL,
	"previous_header_hash" "bytea" NOT NULL,
	"utxos_root" "bytea" NOT NULL,
	"start_time" bigint NOT NULL,
	"end_time" bigint NOT NULL,
	"first_sequence" bigint NOT NULL,
	"last_sequence" bigint NOT NULL,
	"transactions" integer NOT NULL,
	"newest_deposit" bigint,
	"commit_transaction_id" "bytea",
	"commit_transaction" "bytea",
	"merge_transaction_id" "bytea",
	"merge_transaction" "bytea",
	"built_at" timestamp with time zone DEFAULT now() NOT NULL,
	"submitted_at" timestamp with time zone,
	"committed_at" timestamp with time zone,
	"matured_at" timestamp with time zone,
	"merged_at" timestamp with time zone,
	"removed_at" timestamp with time zone,
	CONSTRAINT "blocks_header_hash_unique" UNIQUE("header_hash"),
	CONSTRAINT "blocks_header_hash_size" CHECK (octet_length("ratatosk"."blocks"."header_hash") = 28)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."deployment" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"ledger_id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"ledger_version" integer,
	"rules" text,
	"queue" text,
	"begun_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "deployment_once" CHECK ("ratatosk"."deployment"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."deposits" (
	"transaction_id" "bytea" PRIMARY KEY NOT NULL,
	"header_hash" "bytea" NOT NULL,
	"block_id" bigint,
	"sequence" bigint NOT NULL,
	"released" boolean DEFAULT false NOT NULL,
	"output" "bytea" NOT NULL,
	"address" "bytea" NOT NULL,
	CONSTRAINT "deposits_sequence_unique" UNIQUE("sequence"),
	CONSTRAINT "deposits_id_size" CHECK (octet_length("ratatosk"."deposits"."transaction_id") = 32)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."dropped_transactions" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ratatosk"."dropped_transactions_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"sequence" bigint,
	"transaction_id" "bytea",
	"reopenings" integer DEFAULT 1000 NOT NULL,
	CONSTRAINT "dropped_transactions_one_or_all" CHECK (("ratatosk"."dropped_transactions"."sequence" IS NULL) = ("ratatosk"."dropped_transactions"."transaction_id" IS NULL))
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."genesis" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"digest" "bytea" NOT NULL,
	"outputs" integer NOT NULL,
	"applied_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "genesis_once" CHECK ("ratatosk"."genesis"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."leases" (
	"name" text PRIMARY KEY NOT NULL,
	"holder" text NOT NULL,
	"token" bigint NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."mempool_ledger" (
	"transaction_id" "bytea" NOT NULL,
	"output_index" integer NOT NULL,
	"output" "bytea" NOT NULL,
	"address" "bytea" NOT NULL,
	"sequence" bigint NOT NULL,
	CONSTRAINT "mempool_ledger_transaction_id_output_index_pk" PRIMARY KEY("transaction_id","output_index"),
	CONSTRAINT "mempool_ledger_id_size" CHECK (octet_length("ratatosk"."mempool_ledger"."transaction_id") = 32),
	CONSTRAINT "mempool_ledger_output_index" CHECK ("ratatosk"."mempool_ledger"."output_index" BETWEEN 0 AND 65535)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."mempool_transactions" (
	"sequence" bigint PRIMARY KEY NOT NULL,
	"event_sequence" bigint NOT NULL,
	"transaction_id" "bytea" NOT NULL,
	"cbor" "bytea" NOT NULL,
	"accepted_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "mempool_transactions_event_sequence_unique" UNIQUE("event_sequence"),
	CONSTRAINT "mempool_transactions_transaction_id_unique" UNIQUE("transaction_id"),
	CONSTRAINT "mempool_transactions_id_size" CHECK (octet_length("ratatosk"."mempool_transactions"."transaction_id") = 32)
);
--> statement-breakpoint
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
CREATE TABLE "ratatosk"."spent_outputs" (
	"spent_by" bigint NOT NULL,
	"transaction_id" "bytea" NOT NULL,
	"output_index" integer NOT NULL,
	"output" "bytea" NOT NULL,
	"address" "bytea" NOT NULL,
	"sequence" bigint NOT NULL,
	CONSTRAINT "spent_outputs_spent_by_transaction_id_output_index_pk" PRIMARY KEY("spent_by","transaction_id","output_index")
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."rejected_submissions" (
	"submission_id" text PRIMARY KEY NOT NULL,
	"sequence" bigint NOT NULL,
	"digest" "bytea" NOT NULL,
	"rejected_at" timestamp with time zone NOT NULL,
	CONSTRAINT "rejected_submissions_sequence_unique" UNIQUE("sequence")
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."rejection_usage" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"cbor_bytes" bigint NOT NULL,
	"reason_bytes" bigint NOT NULL,
	CONSTRAINT "rejection_usage_once" CHECK ("ratatosk"."rejection_usage"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."rejections" (
	"digest" "bytea" PRIMARY KEY NOT NULL,
	"sequence" bigint NOT NULL,
	"submission_id" text NOT NULL,
	"transaction_id" "bytea",
	"cbor" "bytea",
	"cbor_bytes" integer NOT NULL,
	"reason_bytes" integer NOT NULL,
	"attempts" integer NOT NULL,
	"code" text NOT NULL,
	"message" text NOT NULL,
	"details" json NOT NULL,
	"submitted_at" timestamp with time zone NOT NULL,
	"rejected_at" timestamp with time zone NOT NULL,
	"first_rejected_at" timestamp with time zone NOT NULL,
	"count" integer NOT NULL,
	"replayed_at" timestamp with time zone,
	"replayed_as" text,
	"spent_by" "bytea",
	"reopened_at" timestamp with time zone,
	CONSTRAINT "rejections_sequence_unique" UNIQUE("sequence")
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."faucet_claims" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"idempotency_key" text NOT NULL,
	"address" "bytea" NOT NULL,
	"ip_hash" text NOT NULL,
	"amount" bigint NOT NULL,
	"state" "ratatosk"."faucet_claim_state" DEFAULT 'reserved' NOT NULL,
	"reserved_at" timestamp with time zone NOT NULL,
	"next_eligible_at" timestamp with time zone NOT NULL,
	"payment_id" "bytea",
	"payment" "bytea",
	"payment_sequence" bigint,
	"payment_expires_at" timestamp with time zone,
	"settled_at" timestamp with time zone,
	"token" bigint DEFAULT 1 NOT NULL,
	"held_until" timestamp with time zone NOT NULL,
	CONSTRAINT "faucet_claims_idempotency_key_unique" UNIQUE("idempotency_key"),
	CONSTRAINT "faucet_claims_payment_id_size" CHECK (octet_length("ratatosk"."faucet_claims"."payment_id") = 32),
	CONSTRAINT "faucet_claims_funded" CHECK ("ratatosk"."faucet_claims"."state" <> 'funded' OR "ratatosk"."faucet_claims"."payment_id" IS NOT NULL)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."faucet_inputs" (
	"transaction_id" "bytea" NOT NULL,
	"output_index" integer NOT NULL,
	"claim_id" uuid NOT NULL,
	CONSTRAINT "faucet_inputs_transaction_id_output_index_pk" PRIMARY KEY("transaction_id","output_index")
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."verdict_events" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ratatosk"."verdict_events_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"header_hash" "bytea" NOT NULL,
	"state" "ratatosk"."verdict_state" NOT NULL,
	"reason" text NOT NULL,
	"policy" text,
	"fraud" text,
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."verdict_questions" (
	"reference" "bytea" PRIMARY KEY NOT NULL,
	"header_hash" "bytea" NOT NULL,
	"output" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."verdict_transactions" (
	"transaction_id" "bytea" PRIMARY KEY NOT NULL,
	"number" bigint GENERATED ALWAYS AS IDENTITY (sequence name "ratatosk"."verdict_transactions_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"header_hash" "bytea" NOT NULL,
	"stage" "ratatosk"."verdict_stage" NOT NULL,
	"cbor" "bytea" NOT NULL,
	"fee" bigint NOT NULL,
	"locked" bigint NOT NULL,
	"sent_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "verdict_transactions_id_size" CHECK (octet_length("ratatosk"."verdict_transactions"."transaction_id") = 32)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."verdicts" (
	"header_hash" "bytea" PRIMARY KEY NOT NULL,
	"number" bigint GENERATED ALWAYS AS IDENTITY (sequence name "ratatosk"."verdicts_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"height" bigint NOT NULL,
	"header" "bytea" NOT NULL,
	"commit_id" "bytea",
	"state" "ratatosk"."verdict_state" DEFAULT 'invalid' NOT NULL,
	"reason" text NOT NULL,
	"position" integer,
	"policy" text,
	"fraud" text,
	"found_at" timestamp with time zone DEFAULT now() NOT NULL,
	"removed_at" timestamp with time zone,
	CONSTRAINT "verdicts_number_unique" UNIQUE("number"),
	CONSTRAINT "verdicts_header_hash_size" CHECK (octet_length("ratatosk"."verdicts"."header_hash") = 28)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."kept_bodies" (
	"header_hash" "bytea" PRIMARY KEY NOT NULL,
	"transactions" "bytea" NOT NULL,
	"end_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."kept_deposits" (
	"header_hash" "bytea" NOT NULL,
	"transaction_id" "bytea" NOT NULL,
	"output" "bytea" NOT NULL,
	"end_time" bigint NOT NULL,
	CONSTRAINT "kept_deposits_header_hash_transaction_id_pk" PRIMARY KEY("header_hash","transaction_id")
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."kept_transactions" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"transaction_id" "bytea" NOT NULL,
	"cbor" "bytea" NOT NULL,
	"end_time" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "ratatosk"."faucet_inputs" ADD CONSTRAINT "faucet_inputs_claim_id_faucet_claims_id_fk" FOREIGN KEY ("claim_id") REFERENCES "ratatosk"."faucet_claims"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ratatosk"."verdict_events" ADD CONSTRAINT "verdict_events_header_hash_verdicts_header_hash_fk" FOREIGN KEY ("header_hash") REFERENCES "ratatosk"."verdicts"("header_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ratatosk"."verdict_questions" ADD CONSTRAINT "verdict_questions_header_hash_verdicts_header_hash_fk" FOREIGN KEY ("header_hash") REFERENCES "ratatosk"."verdicts"("header_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ratatosk"."verdict_transactions" ADD CONSTRAINT "verdict_transactions_header_hash_verdicts_header_hash_fk" FOREIGN KEY ("header_hash") REFERENCES "ratatosk"."verdicts"("header_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "answers_recorded_at" ON "ratatosk"."answers" USING btree ("recorded_at");--> statement-breakpoint
CREATE INDEX "archived_blocks_unmerged" ON "ratatosk"."archived_blocks" USING btree ("height") WHERE NOT "ratatosk"."archived_blocks"."merged";--> statement-breakpoint
CREATE INDEX "block_events_header_hash" ON "ratatosk"."block_events" USING btree ("header_hash","sequence");--> statement-breakpoint
CREATE UNIQUE INDEX "blocks_height" ON "ratatosk"."blocks" USING btree ("height") WHERE "ratatosk"."blocks"."state" <> 'removed';--> statement-breakpoint
CREATE INDEX "blocks_unmerged" ON "ratatosk"."blocks" USING btree ("height") WHERE "ratatosk"."blocks"."state" NOT IN ('merged', 'removed');--> statement-breakpoint
CREATE INDEX "deposits_released" ON "ratatosk"."deposits" USING btree ("sequence") WHERE "ratatosk"."deposits"."released";--> statement-breakpoint
CREATE INDEX "deposits_header_hash" ON "ratatosk"."deposits" USING btree ("header_hash","transaction_id");--> statement-breakpoint
CREATE INDEX "deposits_waiting" ON "ratatosk"."deposits" USING btree ("transaction_id") WHERE "ratatosk"."deposits"."block_id" IS NULL;--> statement-breakpoint
CREATE INDEX "dropped_transactions_reopenings" ON "ratatosk"."dropped_transactions" USING btree ("number") WHERE "ratatosk"."dropped_transactions"."reopenings" > 0;--> statement-breakpoint
CREATE UNIQUE INDEX "leases_token" ON "ratatosk"."leases" USING btree ("name","token");--> statement-breakpoint
CREATE INDEX "mempool_ledger_address" ON "ratatosk"."mempool_ledger" USING btree ("address","sequence","output_index");--> statement-breakpoint
CREATE INDEX "resubmissions_transaction_id" ON "ratatosk"."resubmissions" USING btree ("transaction_id","sequence");--> statement-breakpoint
CREATE INDEX "resubmissions_waiting" ON "ratatosk"."resubmissions" USING btree ("sequence") WHERE "ratatosk"."resubmissions"."cbor" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "spent_outputs_reference" ON "ratatosk"."spent_outputs" USING hash (("transaction_id" || int4send("output_index")));--> statement-breakpoint
CREATE INDEX "rejections_transaction_id" ON "ratatosk"."rejections" USING btree ("transaction_id","sequence") WHERE "ratatosk"."rejections"."transaction_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "rejections_spent_by" ON "ratatosk"."rejections" USING btree ("spent_by","sequence") WHERE "ratatosk"."rejections"."spent_by" IS NOT NULL AND "ratatosk"."rejections"."cbor" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "rejections_cbor" ON "ratatosk"."rejections" USING btree (("transaction_id" IS NOT NULL),"sequence") WHERE "ratatosk"."rejections"."cbor" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "faucet_claims_payment_credential" ON "ratatosk"."faucet_claims" USING btree (substring("address" FROM 2 FOR 28),"next_eligible_at");--> statement-breakpoint
CREATE INDEX "faucet_claims_ip_hash" ON "ratatosk"."faucet_claims" USING btree ("ip_hash","reserved_at");--> statement-breakpoint
CREATE INDEX "faucet_claims_under_way" ON "ratatosk"."faucet_claims" USING btree ("payment_sequence") WHERE "ratatosk"."faucet_claims"."payment_id" IS NOT NULL AND "ratatosk"."faucet_claims"."settled_at" IS NULL AND "ratatosk"."faucet_claims"."state" <> 'failed';--> statement-breakpoint
CREATE INDEX "faucet_inputs_claim" ON "ratatosk"."faucet_inputs" USING btree ("claim_id");--> statement-breakpoint
CREATE INDEX "verdict_events_header_hash" ON "ratatosk"."verdict_events" USING btree ("header_hash","sequence");--> statement-breakpoint
CREATE INDEX "verdict_questions_header_hash" ON "ratatosk"."verdict_questions" USING btree ("header_hash");--> statement-breakpoint
CREATE INDEX "verdict_transactions_header_hash" ON "ratatosk"."verdict_transactions" USING btree ("header_hash","number");--> statement-breakpoint
CREATE INDEX "verdict_transactions_sent_at" ON "ratatosk"."verdict_transactions" USING btree ("sent_at");--> statement-breakpoint
CREATE INDEX "verdicts_state" ON "ratatosk"."verdicts" USING btree ("state","number");--> statement-breakpoint
CREATE INDEX "kept_bodies_end_time" ON "ratatosk"."kept_bodies" USING btree ("end_time");--> statement-breakpoint
CREATE INDEX "kept_deposits_transaction_id" ON "ratatosk"."kept_deposits" USING btree ("transaction_id");--> statement-breakpoint
CREATE INDEX "kept_deposits_end_time" ON "ratatosk"."kept_deposits" USING btree ("end_time");--> statement-breakpoint
CREATE INDEX "kept_transactions_transaction_id" ON "ratatosk"."kept_transactions" USING btree ("transaction_id");--> statement-breakpoint
CREATE INDEX "kept_transactions_end_time" ON "ratatosk"."kept_transactions" USING btree ("end_time");--> statement-breakpoint
ALTER TABLE "ratatosk"."archived_blocks" ALTER COLUMN "body" SET STORAGE EXTERNAL;--> statement-breakpoint
INSERT INTO "ratatosk"."rejection_usage" ("cbor_bytes", "reason_bytes") VALUES (0, 0);--> statement-breakpoint
CREATE FUNCTION "ratatosk"."record_block_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "ratatosk"."block_events" (
		"header_hash", "height", "state", "transactions", "first_sequence", "last_sequence", "end_time",
		"commit_transaction_id", "merge_transaction_id", "at"
	)
	VALUES (
		NEW."header_hash", NEW."height", NEW."state", NEW."transactions", NEW."first_sequence", NEW."last_sequence",
		NEW."end_time", NEW."commit_transaction_id", NEW."merge_transaction_id", clock_timestamp()
	);
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "blocks_inserted" AFTER INSERT ON "ratatosk"."blocks"
FOR EACH ROW EXECUTE FUNCTION "ratatosk"."record_block_event"();--> statement-breakpoint
CREATE TRIGGER "blocks_changed_state" AFTER UPDATE OF "state" ON "ratatosk"."blocks"
FOR EACH ROW WHEN (OLD."state" IS DISTINCT FROM NEW."state") EXECUTE FUNCTION "ratatosk"."record_block_event"();--> statement-breakpoint
CREATE FUNCTION "ratatosk"."record_verdict_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	-- One writer at a time, so that no event appears below one that was read. Readers do not wait.
	LOCK TABLE "ratatosk"."verdict_events" IN SHARE ROW EXCLUSIVE MODE;
	INSERT INTO "ratatosk"."verdict_events" ("header_hash", "state", "reason", "policy", "fraud", "at")
	VALUES (NEW."header_hash", NEW."state", NEW."reason", NEW."policy", NEW."fraud", clock_timestamp());
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "verdicts_inserted" AFTER INSERT ON "ratatosk"."verdicts"
FOR EACH ROW EXECUTE FUNCTION "ratatosk"."record_verdict_event"();--> statement-breakpoint
CREATE TRIGGER "verdicts_changed_state" AFTER UPDATE OF "state" ON "ratatosk"."verdicts"
FOR EACH ROW WHEN (OLD."state" IS DISTINCT FROM NEW."state") EXECUTE FUNCTION "ratatosk"."record_verdict_event"();
