ALTER TABLE "ratatosk"."mempool_ledger" DROP CONSTRAINT "mempool_ledger_credential_size";--> statement-breakpoint
DROP INDEX "ratatosk"."mempool_ledger_payment_credential";--> statement-breakpoint
ALTER TABLE "ratatosk"."mempool_ledger" DROP COLUMN "payment_credential";--> statement-breakpoint
ALTER TABLE "ratatosk"."spent_outputs" DROP COLUMN "payment_credential";