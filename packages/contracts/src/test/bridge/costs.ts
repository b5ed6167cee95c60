import type { TestTransaction } from '../transaction.js'
import type { World } from '../world.js'
import {
  bridgedTokens,
  deposit,
  mergeAndSettle,
  payout,
  tidy,
  tidyReserves,
  withdrawals,
} from './scenarios.js'

/** The transactions of the bridge that `COSTS.md` measures. */
export const bridgeTransactions = (world: World): (readonly [string, TestTransaction])[] => [
  ['deposit of ada', deposit(world)],
  [
    'deposit of 10 assets with an inline datum of 36 B',
    deposit(world, {
      tokens: bridgedTokens(10),
      datum: {
        kind: 'inline',
        data: Uint8Array.of(0xd8, 0x79, 0x9f, 1, 0x58, 28, ...new Uint8Array(28), 0xff),
      },
    }),
  ],
  ['deposit of 96 assets of 4 policies', deposit(world, { tokens: bridgedTokens(96) })],
  ['merge with a settlement', mergeAndSettle(world)],
  ...[1, 10, 16].map(
    (count) =>
      [
        `payout of ${count} of 1,000,000`,
        payout(world, withdrawals(world, count), { others: 1_000_000 }),
      ] as const,
  ),
  ['payout of 20 of 1,000', payout(world, withdrawals(world, 20), { others: 1000 })],
  ['payout of all 36 of a block', payout(world, withdrawals(world, 36), { others: 0 })],
  ['tidying of 2 deposits', tidy(world, 2)],
  ['tidying of 50 deposits', tidy(world, 50)],
  ['tidying of 50 reserves', tidyReserves(world, 50)],
]
