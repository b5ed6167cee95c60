import { headerHash } from '@ratatosk/block'
import { encodeBlockDatum, encodeQueueAction, encodeRootDatum } from '../../datum/state-queue.js'
import { type Breach, breach } from '../breach.js'
import { adaBreach, outputBreaches } from '../output-breaches.js'
import type { TestTransaction } from '../transaction.js'
import {
  ada,
  changeInput,
  changeOutput,
  foreign,
  otherOperator,
  root,
  rootName,
  type World,
  wallet,
  walletAddress,
} from '../world.js'
import { otherHash, rider, withRider } from './edits.js'
import { honestHeader, prune, pruneBehindBlock, pruneBlocks, thirdHeader } from './removals.js'
import {
  blockOutput,
  blockToken,
  firstHeader,
  genesis,
  minting,
  refund,
  rootOutput,
  secondHeader,
  spend,
} from './scenarios.js'

const withPositions = (
  transaction: TestTransaction,
  world: World,
  ...positions: number[]
): TestTransaction => ({
  ...transaction,
  mintRedeemers: [{ policy: world.queue.policy, redeemer: encodeQueueAction({ kind: 'prune', positions }) }],
})

/** Prunes an honest block behind the root and another behind it. */
const behindRoot = (world: World, ...headers: (typeof firstHeader)[]) => pruneBlocks(world, headers)

export const pruneBreaches: readonly Breach[] = [
  breach('prune-spends-genuine-element', 'the element has a token of a foreign policy', (world) => {
    const tokens = [foreign(rootName)]
    return changeOutput(changeInput(prune(world), 4, { tokens }), 0, { tokens })
  }),
  breach('prune-meets-all-spent', 'an honest block is burned that the walk does not meet', (world) => {
    const { outputs, ...transaction } = withRider(prune(world), world, honestHeader)
    return {
      ...transaction,
      outputs: outputs.slice(0, -1),
      mint: [...transaction.mint, blockToken(world, honestHeader, -1n)],
    }
  }),
  breach('prune-meets-all-spent', 'an output without a token is spent as well', (world) => ({
    ...prune(world),
    inputs: [...prune(world).inputs, spend(9, { address: world.queue.address, lovelace: ada(2) })],
  })),
  breach('prune-leaves-no-token', "a pruned block's token goes to a wallet", (world) => ({
    ...prune(world),
    outputs: [...prune(world).outputs.slice(0, -1), wallet(ada(90), [blockToken(world, thirdHeader)])],
    mint: [blockToken(world, secondHeader, -1n)],
  })),
  breach('prune-leaves-no-token', 'a block is minted and kept in a wallet', (world) => ({
    ...prune(world),
    outputs: [...prune(world).outputs.slice(0, -1), wallet(ada(90), [blockToken(world, rider)])],
    mint: [...prune(world).mint, blockToken(world, rider)],
  })),
  breach('prune-walks-links', 'a block has a token of a foreign policy', (world) =>
    changeInput(prune(world), 2, { tokens: [foreign(blockToken(world, thirdHeader).name)] }),
  ),
  breach('prune-walks-links', 'a block is left out, so that no link leads to it any longer', (world) => ({
    ...prune(world),
    inputs: prune(world)
      .inputs.filter(({ id }) => id !== 3)
      .map((input) => (input.id === 4 ? { ...input, id: 3 } : input)),
    outputs: [prune(world).outputs[0]!, refund(thirdHeader), wallet(ada(90))],
    mint: [blockToken(world, thirdHeader, -1n)],
    mintRedeemers: minting(world, { kind: 'prune', positions: [1, 0] }).mintRedeemers,
  })),
  breach('prune-walks-links', 'one block is met twice, so that an honest one need not be', (world) => {
    const { outputs, ...transaction } = withRider(prune(world), world, honestHeader)
    return {
      ...withPositions(transaction as TestTransaction, world, 2, 1, 1, 0),
      outputs: [outputs[0]!, refund(secondHeader), ...outputs.slice(1, -1)],
      mint: [...transaction.mint, blockToken(world, honestHeader, -1n)],
    }
  }),
  breach(
    'prune-walks-links',
    'the last block links to none, and a block of another list is added',
    (world) => {
      const { outputs, ...transaction } = withRider(prune(world), world, rider)
      const state = { ...genesis, headerHash: otherHash }
      return {
        ...changeInput(withPositions(transaction as TestTransaction, world, 2, 1, 0, 3), 4, {
          datum: encodeRootDatum({ state, link: headerHash(secondHeader) }),
        }),
        outputs: [
          { ...outputs[0]!, datum: encodeRootDatum({ state }) },
          ...outputs.slice(1, 3),
          refund(rider),
          ...outputs.slice(3, -1),
        ],
        mint: [...transaction.mint, blockToken(world, rider, -1n)],
      }
    },
  ),
  breach('prune-stale-only', 'the block follows the confirmed state', (world) =>
    behindRoot(world, firstHeader, secondHeader),
  ),
  breach('prune-stale-only', 'a block behind a stale one follows the confirmed state', (world) =>
    behindRoot(world, secondHeader, honestHeader),
  ),
  breach('prune-stale-only', 'the block follows the block before it', (world) => ({
    ...pruneBehindBlock(world),
    inputs: [
      { id: 1, output: wallet(ada(100)) },
      spend(2, blockOutput(world, firstHeader, secondHeader)),
      spend(3, blockOutput(world, secondHeader, thirdHeader)),
    ],
    outputs: [blockOutput(world, firstHeader, thirdHeader), refund(secondHeader), wallet(ada(90))],
    mint: [blockToken(world, secondHeader, -1n)],
  })),
  ...outputBreaches('prune-refunds', prune, 1, 'queue'),
  adaBreach('prune-refunds', prune, 1),
  adaBreach('prune-refunds', prune, 2),
  breach('prune-refunds-ada', 'the pruner keeps the ada of a block', (world) =>
    changeOutput(prune(world), 2, { lovelace: ada(1) }),
  ),
  breach('prune-refunds-address', 'the refund goes to another operator', (world) =>
    changeOutput(prune(world), 2, { address: walletAddress(otherOperator.hash) }),
  ),
  breach('prune-refunds-datum', 'one refund serves two blocks', (world) =>
    changeOutput(prune(world), 2, { datum: refund(secondHeader).datum! }),
  ),
  ...outputBreaches('prune-continues', prune, 0, 'queue'),
  adaBreach('prune-continues', prune, 0),
  breach('prune-continues-datum', 'the root still links to a pruned block', (world) =>
    changeOutput(prune(world), 0, { datum: rootOutput(world, genesis, secondHeader).datum! }),
  ),
  breach('prune-continues-datum', 'the blocks behind the pruned ones are cut off', (world) =>
    changeOutput(pruneBehindBlock(world), 0, { datum: encodeBlockDatum({ header: firstHeader }) }),
  ),
  breach('prune-continues-datum', 'the confirmed state changes', (world) =>
    changeOutput(prune(world), 0, {
      datum: encodeRootDatum({ state: { ...genesis, utxoRoot: root(66) } }),
    }),
  ),
  breach('prune-continues-datum', "the element's header changes", (world) =>
    changeOutput(pruneBehindBlock(world), 0, {
      datum: encodeBlockDatum({ header: rider, link: headerHash(secondHeader) }),
    }),
  ),
]
