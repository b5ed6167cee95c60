CREATE TYPE "ratatosk"."faucet_claim_state" AS ENUM('reserved', 'funded', 'failed');--> statement-breakpoint
CREATE SEQUENCE "ratatosk"."faucet_payment_sequence" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
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
ALTER TABLE "ratatosk"."faucet_inputs" ADD CONSTRAINT "faucet_inputs_claim_id_faucet_claims_id_fk" FOREIGN KEY ("claim_id") REFERENCES "ratatosk"."faucet_claims"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "faucet_claims_address" ON "ratatosk"."faucet_claims" USING btree ("address","next_eligible_at");--> statement-breakpoint
CREATE INDEX "faucet_claims_ip_hash" ON "ratatosk"."faucet_claims" USING btree ("ip_hash","reserved_at");--> statement-breakpoint
CREATE INDEX "faucet_claims_under_way" ON "ratatosk"."faucet_claims" USING btree ("payment_sequence") WHERE "ratatosk"."faucet_claims"."payment_id" IS NOT NULL AND "ratatosk"."faucet_claims"."settled_at" IS NULL AND "ratatosk"."faucet_claims"."state" <> 'failed';--> statement-breakpoint
CREATE INDEX "faucet_inputs_claim" ON "ratatosk"."faucet_inputs" USING btree ("claim_id");