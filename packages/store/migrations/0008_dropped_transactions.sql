CREATE TABLE "ratatosk"."dropped_transactions" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ratatosk"."dropped_transactions_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"sequence" bigint,
	"transaction_id" "bytea",
	CONSTRAINT "dropped_transactions_one_or_all" CHECK (("ratatosk"."dropped_transactions"."sequence" IS NULL) = ("ratatosk"."dropped_transactions"."transaction_id" IS NULL))
);
