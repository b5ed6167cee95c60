CREATE SEQUENCE "ratatosk"."rejection_sequence" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
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
-- The newest 256 MiB of the dead letters so far; retention would drop the others at once.
CREATE TABLE "ratatosk"."rejections_so_far" AS
SELECT *, sha256("cbor") AS "digest"
FROM "ratatosk"."rejections"
WHERE "sequence" > COALESCE((
	SELECT max("sequence")
	FROM (
		SELECT "sequence", sum(octet_length("cbor")) OVER (ORDER BY "sequence" DESC) AS "total"
		FROM "ratatosk"."rejections"
	) AS "counted"
	WHERE "total" > 268435456
), 0);
--> statement-breakpoint
DROP TABLE "ratatosk"."rejections";--> statement-breakpoint
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
	CONSTRAINT "rejections_sequence_unique" UNIQUE("sequence")
);
--> statement-breakpoint
INSERT INTO "ratatosk"."rejected_submissions"
SELECT "submission_id", "sequence", "digest", "rejected_at" FROM "ratatosk"."rejections_so_far";
--> statement-breakpoint
INSERT INTO "ratatosk"."rejections" (
	"digest", "sequence", "submission_id", "transaction_id", "cbor", "cbor_bytes", "reason_bytes", "attempts", "code",
	"message", "details", "submitted_at", "rejected_at", "first_rejected_at", "count"
)
SELECT DISTINCT ON ("digest")
	"digest", "sequence", "submission_id", "transaction_id", "cbor", octet_length("cbor"),
	200 + octet_length("code") + octet_length("message") + octet_length("kept"::text), "attempts", "code",
	"message", "kept", "submitted_at", "rejected_at", min("rejected_at") OVER "same", (count(*) OVER "same")::integer
FROM (
	SELECT *, CASE
		WHEN octet_length("details"::text) <= 4096 THEN "details"
		ELSE json_build_object('truncated', true, 'bytes', octet_length("details"::text))
	END AS "kept"
	FROM "ratatosk"."rejections_so_far"
) AS "capped"
WINDOW "same" AS (PARTITION BY "digest")
ORDER BY "digest", "sequence" DESC;
--> statement-breakpoint
INSERT INTO "ratatosk"."rejection_usage" ("cbor_bytes", "reason_bytes")
SELECT
	COALESCE((SELECT sum("cbor_bytes") FROM "ratatosk"."rejections"), 0),
	COALESCE((SELECT sum("reason_bytes") FROM "ratatosk"."rejections"), 0)
		+ COALESCE((SELECT sum(octet_length("submission_id") + 150) FROM "ratatosk"."rejected_submissions"), 0);
--> statement-breakpoint
SELECT setval('"ratatosk"."rejection_sequence"', COALESCE(max("sequence"), 0) + 1, false) FROM "ratatosk"."rejected_submissions";
--> statement-breakpoint
DROP TABLE "ratatosk"."rejections_so_far";--> statement-breakpoint
CREATE INDEX "rejections_transaction_id" ON "ratatosk"."rejections" USING btree ("transaction_id","sequence") WHERE "ratatosk"."rejections"."transaction_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "rejections_cbor" ON "ratatosk"."rejections" USING btree (("transaction_id" IS NOT NULL),"sequence") WHERE "ratatosk"."rejections"."cbor" IS NOT NULL;
