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
CREATE INDEX "answers_recorded_at" ON "ratatosk"."answers" USING btree ("recorded_at");