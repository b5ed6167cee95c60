ALTER TABLE "ratatosk"."block_transactions" DROP CONSTRAINT "block_transactions_block_id_blocks_id_fk";
