CREATE TABLE "ratatosk"."archived_blocks" (
	"height" bigint PRIMARY KEY NOT NULL,
	"header_hash" "bytea" NOT NULL,
	"header" "bytea" NOT NULL,
	"body" "bytea" NOT NULL,
	"merged" boolean NOT NULL,
	"archived_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "archived_blocks_header_hash_unique" UNIQUE("header_hash"),
	CONSTRAINT "archived_blocks_height" CHECK ("ratatosk"."archived_blocks"."height" >= 1),
	CONSTRAINT "archived_blocks_header_hash_size" CHECK (octet_length("ratatosk"."archived_blocks"."header_hash") = 28)
);
--> statement-breakpoint
CREATE INDEX "archived_blocks_unmerged" ON "ratatosk"."archived_blocks" USING btree ("height") WHERE NOT "ratatosk"."archived_blocks"."merged";--> statement-breakpoint
ALTER TABLE "ratatosk"."archived_blocks" ALTER COLUMN "body" SET STORAGE EXTERNAL;
