import { headerHash } from '../../datum/header.js'
import { encodeRefundDatum, encodeRootDatum } from '../../datum/state-queue.js'
import { type Breach, breach } from '../breach.js'
import { adaBreach, outputBreaches } from '../output-breaches.js'
import { ada, changeInput, changeOutput, foreign, otherOperator, root, rootName, wallet } from '../world.js'
import { otherHash, rider, withDatumHash, withRider } from './edits.js'
import {
  blockOutput,
  blockToken,
  firstHeader,
  genesis,
  merge,
  merged,
  secondHeader,
  spend,
} from './scenarios.js'

export const mergeBreaches: readonly Breach[] = [
  breach('merge-spends-two-elements', 'another block is carried off', (world) =>
    withRider(merge(world), world, rider),
  ),
  breach('merge-spends-the-root', 'a forged root under a foreign policy takes the state', (world) => {
    const tokens = [foreign(rootName)]
    return changeOutput(changeInput(merge(world), 2, { tokens }), 0, { tokens })
  }),
  breach('merge-spends-the-root', 'the block before takes the state', (world) => ({
    ...merge(world),
    inputs: [
      spend(2, blockOutput(world, secondHeader)),
      spend(3, blockOutput(world, firstHeader, secondHeader)),
    ],
    outputs: [
      {
        ...blockOutput(world, firstHeader),
        datum: encodeRootDatum({
          state: {
            ...merged,
            headerHash: headerHash(secondHeader),
            prevHeaderHash: secondHeader.prevHeaderHash,
            utxoRoot: secondHeader.utxosRoot,
            startTime: secondHeader.startTime,
            endTime: secondHeader.endTime,
          },
        }),
      },
      { ...merge(world).outputs[1]!, datum: encodeRefundDatum(headerHash(secondHeader)) },
    ],
    mint: [blockToken(world, secondHeader, -1n)],
    validFrom: 110n,
  })),
  breach('merge-the-oldest', 'a later block is merged', (world) =>
    changeInput(merge(world), 2, { datum: encodeRootDatum({ state: genesis, link: otherHash }) }),
  ),
  breach('merge-the-oldest', 'the root links to nothing', (world) =>
    changeInput(merge(world), 2, { datum: encodeRootDatum({ state: genesis }) }),
  ),
  breach('merge-burns-its-block', 'the token goes to a wallet and another is minted', (world) => ({
    ...merge(world),
    outputs: [
      ...merge(world).outputs.slice(0, 2),
      wallet(ada(99), [blockToken(world, firstHeader), blockToken(world, rider)]),
    ],
    mint: [blockToken(world, rider)],
  })),
  breach('merge-burns-its-block', 'another token is minted beside the burning', (world) => ({
    ...merge(world),
    outputs: [...merge(world).outputs.slice(0, 2), wallet(ada(99), [blockToken(world, rider)])],
    mint: [blockToken(world, rider), blockToken(world, firstHeader, -1n)],
  })),
  breach('merge-mature', 'the window is one slot short', (world) => ({ ...merge(world), validFrom: 89n })),
  breach('merge-mature', 'nothing says that the window has passed', (world) => {
    const { validFrom: _, ...rest } = merge(world)
    return rest
  }),
  ...outputBreaches('merge-carries', merge, 0, 'queue'),
  adaBreach('merge-carries', merge, 0),
  ...(
    [
      ['header hash', { headerHash: otherHash }],
      ['previous header hash', { prevHeaderHash: otherHash }],
      ['root', { utxoRoot: root(88) }],
      ['start', { startTime: merged.startTime + 1n }],
      ['end', { endTime: merged.endTime + 1n }],
      ['protocol version', { protocolVersion: 2n }],
    ] as const
  ).map(([what, change]) =>
    breach('merge-carries-datum', `the ${what} is another`, (world) =>
      changeOutput(merge(world), 0, {
        datum: encodeRootDatum({ state: { ...merged, ...change }, link: headerHash(secondHeader) }),
      }),
    ),
  ),
  breach('merge-carries-datum', 'the rest of the queue is cut off', (world) =>
    changeOutput(merge(world), 0, { datum: encodeRootDatum({ state: merged }) }),
  ),
  breach('merge-carries-datum', 'there is but the hash of one', (world) => withDatumHash(merge(world), 0)),
  ...outputBreaches('merge-refunds', merge, 1, 'queue'),
  adaBreach('merge-refunds', merge, 1),
  breach('merge-refunds-address', 'another operator gets it', (world) =>
    changeOutput(merge(world), 1, { address: Uint8Array.of(0x60, ...otherOperator.hash) }),
  ),
  breach('merge-refunds-datum', 'it is marked as another contract’s payment', (world) =>
    changeOutput(merge(world), 1, { datum: encodeRefundDatum(otherHash) }),
  ),
  breach('merge-refunds-datum', 'it is not marked', (world) => {
    const transaction = merge(world)
    const { datum: _, ...unmarked } = transaction.outputs[1]!
    return { ...transaction, outputs: [transaction.outputs[0]!, unmarked, ...transaction.outputs.slice(2)] }
  }),
]
