CREATE TABLE "ratatosk"."deployment" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"ledger_version" integer NOT NULL,
	"begun_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "deployment_once" CHECK ("ratatosk"."deployment"."id" = 1)
);--> statement-breakpoint
-- A store that an earlier version migrated began with ledger version 10.
INSERT INTO "ratatosk"."deployment" ("ledger_version")
SELECT 10 WHERE EXISTS (SELECT FROM "ratatosk"."migrations" WHERE "applied_at" < now());
