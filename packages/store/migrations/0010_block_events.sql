CREATE TABLE "ratatosk"."block_events" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ratatosk"."block_events_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"header_hash" "bytea" NOT NULL,
	"height" bigint NOT NULL,
	"state" "ratatosk"."block_state" NOT NULL,
	"transactions" integer NOT NULL,
	"first_sequence" bigint NOT NULL,
	"last_sequence" bigint NOT NULL,
	"end_time" bigint NOT NULL,
	"commit_transaction_id" "bytea" NOT NULL,
	"merge_transaction_id" "bytea",
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "block_events_header_hash" ON "ratatosk"."block_events" USING btree ("header_hash","sequence");--> statement-breakpoint
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
FOR EACH ROW WHEN (OLD."state" IS DISTINCT FROM NEW."state") EXECUTE FUNCTION "ratatosk"."record_block_event"();
