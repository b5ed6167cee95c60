import { headerHash } from '@ratatosk/block'
import { encodeRefundDatum, encodeRootDatum } from '../../datum/state-queue.js'
import { type Breach, breach } from '../breach.js'
import { mergeAndSettle } from '../bridge/scenarios.js'
import { adaBreach, outputBreaches } from '../output-breaches.js'
import { ada, changeInput, changeOutput, foreign, otherOperator, root, rootName, wallet } from '../world.js'
import { otherHash, rider, withDatumHash, withRider } from './edits.js'
import { blockToken, firstHeader, genesis, merge, merged, secondHeader } from './scenarios.js'

export const mergeBreaches: readonly Breach[] = [
  breach('merge-spends-two-elements', 'another block leaves the queue in the same transaction', (world) =>
    withRider(merge(world), world, rider),
  ),
  breach('merge-spends-genuine-root', 'the spent root has a token of a foreign policy', (world) => {
    const tokens = [foreign(rootName)]
    return changeOutput(changeInput(merge(world), 2, { tokens }), 0, { tokens })
  }),
  breach('merge-oldest-block', 'the root links to another block', (world) =>
    changeInput(merge(world), 2, { datum: encodeRootDatum({ state: genesis, link: otherHash }) }),
  ),
  breach('merge-oldest-block', 'the root links to no block', (world) =>
    changeInput(merge(world), 2, { datum: encodeRootDatum({ state: genesis }) }),
  ),
  breach('merge-follows-confirmed-state', 'a block before it was removed', (world) =>
    changeInput(merge(world), 2, {
      datum: encodeRootDatum({
        state: { ...genesis, headerHash: otherHash },
        link: headerHash(firstHeader),
      }),
    }),
  ),
  breach('merge-burns-block-only', 'the token is kept in a wallet and another is minted', (world) => ({
    ...merge(world),
    outputs: [
      ...merge(world).outputs.slice(0, 2),
      wallet(ada(99), [blockToken(world, firstHeader), blockToken(world, rider)]),
    ],
    mint: [blockToken(world, rider)],
  })),
  breach('merge-burns-block-only', 'another token is minted as well', (world) => ({
    ...merge(world),
    outputs: [...merge(world).outputs.slice(0, 2), wallet(ada(99), [blockToken(world, rider)])],
    mint: [blockToken(world, rider), blockToken(world, firstHeader, -1n)],
  })),
  breach('merge-settles', 'the token of an earlier settlement of the same name burns', (world) => {
    const transaction = mergeAndSettle(world)
    const [block, token] = transaction.mint
    return {
      ...changeOutput(transaction, 2, { tokens: [] }),
      mint: [block!, { ...token!, quantity: -1n }],
    }
  }),
  breach('merge-mature', 'the maturity window ends one slot later', (world) => ({
    ...merge(world),
    validFrom: 89n,
  })),
  breach('merge-mature', 'the transaction has no lower validity bound', (world) => {
    const { validFrom: _, ...rest } = merge(world)
    return rest
  }),
  ...outputBreaches('merge-continues', (world) => merge(world), 0, 'queue'),
  adaBreach('merge-continues', (world) => merge(world), 0),
  ...(
    [
      ['header hash', { headerHash: otherHash }],
      ['previous header hash', { prevHeaderHash: otherHash }],
      ['root', { utxoRoot: root(88) }],
      ['start', { startTime: merged.startTime + 1n }],
      ['end', { endTime: merged.endTime + 1n }],
      ['block version', { blockVersion: 2n }],
    ] as const
  ).map(([what, change]) =>
    breach('merge-continues-datum', `the state has another ${what}`, (world) =>
      changeOutput(merge(world), 0, {
        datum: encodeRootDatum({ state: { ...merged, ...change }, link: headerHash(secondHeader) }),
      }),
    ),
  ),
  breach('merge-continues-datum', 'the root no longer links to the next block', (world) =>
    changeOutput(merge(world), 0, { datum: encodeRootDatum({ state: merged }) }),
  ),
  breach('merge-continues-datum', 'the datum is a hash instead of inline', (world) =>
    withDatumHash(merge(world), 0),
  ),
  ...outputBreaches('merge-refunds', (world) => merge(world), 1, 'queue'),
  adaBreach('merge-refunds', (world) => merge(world), 1),
  adaBreach('merge-refunds', mergeAndSettle, 1),
  breach('merge-refunds-ada', 'the merger takes the ada of a settlement that is not owed', (world) =>
    changeOutput(merge(world), 1, { lovelace: ada(4) - 1_500_000n }),
  ),
  breach('merge-refunds-address', 'the refund goes to another operator', (world) =>
    changeOutput(merge(world), 1, { address: Uint8Array.of(0x60, ...otherOperator.hash) }),
  ),
  breach('merge-refunds-datum', 'the refund names another block', (world) =>
    changeOutput(merge(world), 1, { datum: encodeRefundDatum(otherHash) }),
  ),
  breach('merge-refunds-datum', 'the refund has no datum', (world) => {
    const transaction = merge(world)
    const { datum: _, ...unmarked } = transaction.outputs[1]!
    return { ...transaction, outputs: [transaction.outputs[0]!, unmarked, ...transaction.outputs.slice(2)] }
  }),
]
