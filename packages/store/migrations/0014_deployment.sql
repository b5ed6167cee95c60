CREATE TABLE "ratatosk"."deployment" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"ledger_version" integer,
	"begun_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "deployment_once" CHECK ("ratatosk"."deployment"."id" = 1)
);--> statement-breakpoint
-- Of a store that an earlier version migrated, the ledger version is not known.
INSERT INTO "ratatosk"."deployment" ("ledger_version")
SELECT NULL WHERE EXISTS (SELECT FROM "ratatosk"."migrations" WHERE "applied_at" < now());
