CREATE TYPE "ratatosk"."verdict_stage" AS ENUM('datum', 'verdict', 'removal', 'prune');--> statement-breakpoint
CREATE TYPE "ratatosk"."verdict_state" AS ENUM('invalid', 'unprovable', 'removing', 'removed');--> statement-breakpoint
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
ALTER TABLE "ratatosk"."verdict_transactions" ADD CONSTRAINT "verdict_transactions_header_hash_verdicts_header_hash_fk" FOREIGN KEY ("header_hash") REFERENCES "ratatosk"."verdicts"("header_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "verdict_transactions_header_hash" ON "ratatosk"."verdict_transactions" USING btree ("header_hash","number");--> statement-breakpoint
CREATE INDEX "verdict_transactions_sent_at" ON "ratatosk"."verdict_transactions" USING btree ("sent_at");--> statement-breakpoint
CREATE INDEX "verdicts_state" ON "ratatosk"."verdicts" USING btree ("state","number");