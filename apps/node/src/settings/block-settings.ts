import { Type } from '@sinclair/typebox'
import { flag, optionalNumber, wholeNumber } from './kinds.js'

/** The life of a block, and what the contracts are made with. */
export const blockSettings = {
  AUTO_INIT: Type.Optional(
    Type.Boolean({
      defaultNote: '`true` on the devnet, else `false`',
      description: 'Begin the state queue by itself where there is none and the ledger has no block',
    }),
  ),
  AUTO_COMMIT: flag({ default: true, description: 'Commit blocks by itself; off: only `/commit` does' }),
  AUTO_MERGE: flag({ default: true, description: 'Merge mature blocks by itself; off: only `/merge` does' }),
  COMMIT_INTERVAL_MS: wholeNumber({
    default: 1000,
    minimum: 100,
    maximum: 3_600_000,
    description: 'How often a block is committed while transactions wait, in milliseconds',
  }),
  MERGE_INTERVAL_MS: wholeNumber({
    default: 10_000,
    minimum: 100,
    maximum: 3_600_000,
    description: 'How often the oldest block is tried to be merged, in milliseconds',
  }),
  BLOCK_MAX_TRANSACTIONS: wholeNumber({
    default: 10_000,
    minimum: 1,
    maximum: 100_000,
    description: 'Transactions in a block at most',
  }),
  BLOCK_VALIDITY_MS: optionalNumber({
    minimum: 1000,
    maximum: 3_600_000,
    defaultNote: '`120000`, on the devnet `10000`',
    description: 'How long layer 1 may take to include a commitment, in milliseconds; a block ends with it',
  }),
  MATURITY_WINDOW_MS: optionalNumber({
    minimum: 0,
    maximum: 31_536_000_000,
    defaultNote: '`604800000`, on the devnet `30000`',
    description: "From a block's end until it may be merged, in milliseconds; part of the contracts",
  }),
  OPERATOR_TURN_MS: wholeNumber({
    default: 3_600_000,
    minimum: 10_000,
    maximum: 31_536_000_000,
    description: "Length of an operator's turn, in milliseconds; part of the contracts",
  }),
  OPERATOR_BOND: wholeNumber({
    default: 500_000_000,
    minimum: 1_000_000,
    maximum: 1_000_000_000_000_000,
    description: 'What an operator leaves with the registry, in lovelace; part of the contracts',
  }),
  SEQUENCER_LEASE_MS: wholeNumber({
    default: 10_000,
    minimum: 1000,
    maximum: 600_000,
    description: 'After so long without a sign of life another sequencer takes over, in milliseconds',
  }),
  OPERATION_TIMEOUT_MS: wholeNumber({
    default: 180_000,
    minimum: 1000,
    maximum: 3_600_000,
    description: 'How long an operator endpoint waits for layer 1 or for the sequencer, in milliseconds',
  }),
}
