CREATE TABLE "ratatosk"."verdict_questions" (
	"reference" "bytea" PRIMARY KEY NOT NULL,
	"header_hash" "bytea" NOT NULL,
	"output" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "ratatosk"."verdict_questions" ADD CONSTRAINT "verdict_questions_header_hash_verdicts_header_hash_fk" FOREIGN KEY ("header_hash") REFERENCES "ratatosk"."verdicts"("header_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "verdict_questions_header_hash" ON "ratatosk"."verdict_questions" USING btree ("header_hash");