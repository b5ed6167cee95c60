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
ALTER TABLE "ratatosk"."verdict_events" ADD CONSTRAINT "verdict_events_header_hash_verdicts_header_hash_fk" FOREIGN KEY ("header_hash") REFERENCES "ratatosk"."verdicts"("header_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "verdict_events_header_hash" ON "ratatosk"."verdict_events" USING btree ("header_hash","sequence");--> statement-breakpoint
INSERT INTO "ratatosk"."verdict_events" ("header_hash", "state", "reason", "policy", "fraud", "at")
SELECT "header_hash", "state", "reason", "policy", "fraud", coalesce("removed_at", "found_at")
FROM "ratatosk"."verdicts" ORDER BY "number";--> statement-breakpoint
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
