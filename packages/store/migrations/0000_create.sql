CREATE SCHEMA "ratatosk";
--> statement-breakpoint
CREATE TYPE "ratatosk"."block_state" AS ENUM('built', 'submitted', 'committed', 'mature', 'merged', 'removed');--> statement-breakpoint
CREATE SEQUENCE "ratatosk"."accept_sequence" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "ratatosk"."address_history" (
	"address" "bytea" NOT NULL,
	"sequence" bigint NOT NULL,
	CONSTRAINT "address_history_address_sequence_pk" PRIMARY KEY("address","sequence")
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."block_transactions" (
	"block_id" bigint NOT NULL,
	"position" integer NOT NULL,
	"sequence" bigint NOT NULL,
	"transaction_id" "bytea" NOT NULL,
	"cbor" "bytea" NOT NULL,
	"accepted_at" timestamp with time zone NOT NULL,
	CONSTRAINT "block_transactions_block_id_position_pk" PRIMARY KEY("block_id","position"),
	CONSTRAINT "block_transactions_sequence_unique" UNIQUE("sequence"),
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
	"layer1_transaction" "bytea",
	"layer1_transaction_hash" "bytea",
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
	"payment_credential" "bytea",
	"sequence" bigint NOT NULL,
	CONSTRAINT "mempool_ledger_transaction_id_output_index_pk" PRIMARY KEY("transaction_id","output_index"),
	CONSTRAINT "mempool_ledger_id_size" CHECK (octet_length("ratatosk"."mempool_ledger"."transaction_id") = 32),
	CONSTRAINT "mempool_ledger_output_index" CHECK ("ratatosk"."mempool_ledger"."output_index" BETWEEN 0 AND 65535),
	CONSTRAINT "mempool_ledger_credential_size" CHECK (octet_length("ratatosk"."mempool_ledger"."payment_credential") = 28)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."mempool_transactions" (
	"sequence" bigint PRIMARY KEY NOT NULL,
	"transaction_id" "bytea" NOT NULL,
	"cbor" "bytea" NOT NULL,
	"accepted_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "mempool_transactions_transaction_id_unique" UNIQUE("transaction_id"),
	CONSTRAINT "mempool_transactions_id_size" CHECK (octet_length("ratatosk"."mempool_transactions"."transaction_id") = 32)
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."rejections" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ratatosk"."rejections_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"submission_id" text NOT NULL,
	"transaction_id" "bytea",
	"cbor" "bytea" NOT NULL,
	"attempts" integer NOT NULL,
	"code" text NOT NULL,
	"message" text NOT NULL,
	"details" json NOT NULL,
	"submitted_at" timestamp with time zone NOT NULL,
	"rejected_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "rejections_submission_id_unique" UNIQUE("submission_id")
);
--> statement-breakpoint
CREATE TABLE "ratatosk"."spent_outputs" (
	"spent_by" bigint NOT NULL,
	"transaction_id" "bytea" NOT NULL,
	"output_index" integer NOT NULL,
	"output" "bytea" NOT NULL,
	"address" "bytea" NOT NULL,
	"payment_credential" "bytea",
	"sequence" bigint NOT NULL,
	CONSTRAINT "spent_outputs_spent_by_transaction_id_output_index_pk" PRIMARY KEY("spent_by","transaction_id","output_index")
);
--> statement-breakpoint
ALTER TABLE "ratatosk"."block_transactions" ADD CONSTRAINT "block_transactions_block_id_blocks_id_fk" FOREIGN KEY ("block_id") REFERENCES "ratatosk"."blocks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "blocks_height" ON "ratatosk"."blocks" USING btree ("height") WHERE "ratatosk"."blocks"."state" <> 'removed';--> statement-breakpoint
CREATE INDEX "mempool_ledger_address" ON "ratatosk"."mempool_ledger" USING btree ("address","sequence","output_index");--> statement-breakpoint
CREATE INDEX "mempool_ledger_payment_credential" ON "ratatosk"."mempool_ledger" USING btree ("payment_credential","sequence","output_index") WHERE "ratatosk"."mempool_ledger"."payment_credential" IS NOT NULL;--> statement-breakpoint
CREATE VIEW "ratatosk"."immutable_transactions" AS (select "ratatosk"."block_transactions"."sequence", "ratatosk"."block_transactions"."transaction_id", "ratatosk"."block_transactions"."cbor", "ratatosk"."block_transactions"."accepted_at", "ratatosk"."block_transactions"."block_id", "ratatosk"."block_transactions"."position" from "ratatosk"."block_transactions" inner join "ratatosk"."blocks" on "ratatosk"."blocks"."id" = "ratatosk"."block_transactions"."block_id" where "ratatosk"."blocks"."state" = 'merged');