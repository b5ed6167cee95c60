ALTER TYPE "ratatosk"."verdict_stage" ADD VALUE 'question' BEFORE 'datum';--> statement-breakpoint
ALTER TYPE "ratatosk"."verdict_state" ADD VALUE 'unavailable' BEFORE 'invalid';--> statement-breakpoint
ALTER TYPE "ratatosk"."verdict_state" ADD VALUE 'valid' BEFORE 'invalid';