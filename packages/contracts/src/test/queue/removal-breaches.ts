import { headerHash } from '@ratatosk/block'
import { constr, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { encodeBlockDatum, encodeQueueAction, encodeRootDatum } from '../../datum/state-queue.js'
import { adaBreach, type Breach, breach, outputBreaches } from '../breach.js'
import { entry, registryOf, retired, running, spendRegistry } from '../registry/scenarios.js'
import type { TestOutput, TestTransaction, Token } from '../transaction.js'
import {
  ada,
  administrator,
  changeInput,
  changeOutput,
  convicting,
  foreign,
  foreignPolicy,
  foreignScript,
  openVerdict,
  operator,
  otherOperator,
  root,
  rootName,
  scriptReference,
  verdict,
  verdictToken,
  type World,
  wallet,
  walletAddress,
} from '../world.js'
import {
  honestHeader,
  prune,
  pruneBehindBlock,
  pruneBlocks,
  removal,
  removeActive,
  removeAlreadySlashed,
  removeByHeldVerdict,
  thirdHeader,
  withPenalty,
} from './removals.js'
import {
  blockOutput,
  blockToken,
  firstHeader,
  genesis,
  minting,
  otherHash,
  references,
  refund,
  remove,
  removeLast,
  rider,
  rootOutput,
  secondHeader,
  signedBy,
  spend,
  withRider,
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

const administratorBreaches: readonly Breach[] = [
  breach('remove-by-administrator', "the block's operator signs instead of the administrator", (world) =>
    signedBy(remove(world), operator.hash),
  ),
  breach('remove-by-administrator', 'no one signs', (world) => ({ ...remove(world), signatories: [] })),
  breach('remove-by-administrator', 'a verdict spares the operator', (world) => ({
    ...removeAlreadySlashed(world),
    mintRedeemers: [...minting(world, removal('by-administrator')).mintRedeemers, convicting(firstHeader)],
  })),
  breach('remove-spends-two-elements', 'another block leaves the queue in the same transaction', (world) =>
    withRider(remove(world), world, rider),
  ),
  breach(
    'remove-spends-two-elements',
    'a second block is removed under the verdict of the first',
    (world) => {
      const transaction = withRider(removeActive(world), world, rider)
      return {
        ...transaction,
        outputs: transaction.outputs.slice(0, -1),
        inputs: transaction.inputs.map((input) =>
          input.id === 9 ? { ...input, output: { ...input.output, tokens: [foreign(otherHash)] } } : input,
        ),
      }
    },
  ),
  breach('remove-spends-genuine-predecessor', 'the predecessor has a token of a foreign policy', (world) => {
    const tokens = [foreign(rootName)]
    return changeOutput(changeInput(remove(world), 2, { tokens }), 0, { tokens })
  }),
  breach('remove-spends-genuine-block', 'a forged block names another operator', (world) => {
    const forged = { ...firstHeader, operatorVkey: otherOperator.hash }
    const transaction = {
      ...removeActive(world),
      ...slashed(world, 'active', entry(operator), entry(otherOperator)),
    }
    return changeInput(transaction, 3, {
      tokens: [foreign(blockToken(world, firstHeader).name)],
      datum: encodeBlockDatum({ header: forged, link: headerHash(secondHeader) }),
    })
  }),
  breach('remove-follows-predecessor', 'the predecessor links to another block', (world) =>
    changeInput(remove(world), 2, { datum: encodeRootDatum({ state: genesis, link: otherHash }) }),
  ),
  breach('remove-burns-block-only', 'the token is kept in a wallet and another is minted', (world) => ({
    ...remove(world),
    outputs: [
      remove(world).outputs[0]!,
      wallet(ada(104), [blockToken(world, firstHeader), blockToken(world, rider)]),
    ],
    mint: [blockToken(world, rider)],
  })),
  breach('remove-burns-block-only', 'another token is minted as well', (world) => ({
    ...remove(world),
    outputs: [remove(world).outputs[0]!, wallet(ada(104), [blockToken(world, rider)])],
    mint: [blockToken(world, rider), blockToken(world, firstHeader, -1n)],
  })),
  ...outputBreaches('remove-continues', remove, 0, 'queue'),
  adaBreach('remove-continues', remove, 0),
  breach('remove-continues-datum', 'the confirmed state changes', (world) =>
    changeOutput(remove(world), 0, {
      datum: encodeRootDatum({ state: { ...genesis, utxoRoot: root(66) }, link: headerHash(secondHeader) }),
    }),
  ),
  breach('remove-continues-datum', 'the blocks behind the removed one are cut off', (world) =>
    changeOutput(remove(world), 0, { datum: encodeRootDatum({ state: genesis }) }),
  ),
  breach('remove-continues-datum', "the predecessor's header changes", (world) =>
    changeOutput(removeLast(world), 0, { datum: encodeBlockDatum({ header: rider }) }),
  ),
]

/** A removal without a verdict, and with these tokens minted instead under policies that allow everything. */
const withTokens = (world: World, ...tokens: Token[]): TestTransaction => ({
  ...removeActive(world),
  outputs: [
    ...removeActive(world).outputs.slice(0, 2),
    wallet(
      ada(500),
      tokens.filter(({ quantity }) => quantity > 0n),
    ),
  ],
  mint: [blockToken(world, firstHeader, -1n), ...tokens],
  mintRedeemers: minting(world, removal('active')).mintRedeemers,
  nativeScripts: [foreignScript, openVerdict.bytes],
})

const open = (name: Uint8Array, quantity = 1n): Token => ({ policy: openVerdict.hash, name, quantity })

/** A removal beside which a reference input holds these tokens. */
const beside = (world: World, output: TestOutput): TestTransaction => ({
  ...removeByHeldVerdict(world),
  referenceInputs: [...references(world), { id: 201, output }],
})

const verdictBreaches: readonly Breach[] = [
  breach('remove-by-verdict', 'there is no verdict', (world) => withTokens(world)),
  breach('remove-by-verdict', 'the administrator signs and there is no verdict', (world) =>
    signedBy(withTokens(world), administrator.hash),
  ),
  breach('remove-by-verdict', 'the verdict is against another block', (world) => ({
    ...removeActive(world),
    mint: [blockToken(world, firstHeader, -1n), verdictToken(secondHeader)],
    mintRedeemers: [...minting(world, removal('active')).mintRedeemers, convicting(secondHeader)],
  })),
  breach('remove-by-verdict', 'the policy of the verdict is not in the list', (world) =>
    withTokens(world, verdictToken(firstHeader, foreignPolicy)),
  ),
  breach('remove-by-verdict', 'the verdict has the name of the block instead of its hash', (world) =>
    withTokens(world, open(blockToken(world, firstHeader).name)),
  ),
  breach('remove-by-verdict', 'a verdict is burned', (world) =>
    withTokens(world, open(headerHash(firstHeader), -1n)),
  ),
  breach('remove-by-verdict', 'a reference input holds the verdict against another block', (world) =>
    beside(world, wallet(ada(2), [verdictToken(secondHeader)])),
  ),
  breach('remove-by-verdict', 'a reference input holds a token of a foreign policy', (world) =>
    beside(world, wallet(ada(2), [verdictToken(firstHeader, foreignPolicy)])),
  ),
  breach('remove-by-verdict', "a reference input holds only the block's own token", (world) =>
    beside(world, wallet(ada(2), [blockToken(world, firstHeader)])),
  ),
]

/** The parts of a removal that slash, with these entries in the registry: the second is deleted. */
const slashed = (
  world: World,
  approach: 'active' | 'retired',
  stays: typeof retired,
  goes: typeof retired,
): Pick<TestTransaction, 'inputs' | 'outputs'> => {
  const { inputs, outputs } = removeActive(world)
  return {
    inputs: [
      ...inputs.filter(({ id }) => id !== 5),
      spendRegistry(world, 5, running(world, stays, goes), {
        kind: 'slash',
        operator: goes.vkey,
        approach,
      }),
    ],
    outputs: [outputs[0]!, withPenalty(world, running(world, stays)), ...outputs.slice(2)],
  }
}

const slashBreaches: readonly Breach[] = [
  breach('remove-slashes-operator', 'an honest operator is slashed instead', (world) => ({
    ...removeActive(world),
    ...slashed(world, 'active', entry(operator), entry(otherOperator)),
  })),
  breach('remove-slashes-operator', 'an honest operator who has retired is slashed instead', (world) => ({
    ...removeActive(world),
    ...slashed(world, 'retired', entry(operator), { ...retired, vkey: otherOperator.hash }),
    mintRedeemers: [...minting(world, removal('retired')).mintRedeemers, convicting(firstHeader)],
  })),
  breach('remove-slashes-operator', 'the operator who serves is spared', (world) => ({
    ...removeAlreadySlashed(world),
    mintRedeemers: [...minting(world, removal('active')).mintRedeemers, convicting(firstHeader)],
  })),
  breach('remove-slashes-operator', 'the approach is none of the four', (world) => {
    const redeemer = encodePlutusData(constr(4, headerHash(firstHeader), constr(4)))
    return {
      ...removeAlreadySlashed(world),
      mintRedeemers: [{ policy: world.queue.policy, redeemer }, convicting(firstHeader)],
    }
  }),
  ...(
    [
      ['serves', entry(operator)],
      ['has retired and could be slashed', retired],
    ] as const
  ).map(([what, own]) =>
    breach('remove-already-slashed', `the operator ${what}`, (world) =>
      besideRegistry(world, registryOf(world, running(world, entry(otherOperator), own))),
    ),
  ),
  breach('remove-already-slashed', 'the registry beside it has a token of a foreign policy', (world) =>
    besideRegistry(world, {
      ...registryOf(world, running(world, entry(otherOperator))),
      tokens: [foreign(rootName)],
    }),
  ),
  breach('remove-already-slashed', 'no reference input is the registry', (world) => ({
    ...removeAlreadySlashed(world),
    referenceInputs: [scriptReference(world.queue), scriptReference(verdict, 252)],
  })),
]

function besideRegistry(world: World, output: TestOutput): TestTransaction {
  const transaction = removeAlreadySlashed(world)
  return {
    ...transaction,
    referenceInputs: transaction.referenceInputs.map((input) =>
      input.id === 200 ? { id: 200, output } : input,
    ),
  }
}

export const removeBreaches: readonly Breach[] = [
  ...administratorBreaches,
  ...verdictBreaches,
  ...slashBreaches,
]
