import { headerHash } from '@ratatosk/block'
import type { RegistryDatum } from '../../datum/registry.js'
import { encodeRefundDatum, encodeRootDatum } from '../../datum/state-queue.js'
import { adaBreach, type Breach, breach, outputBreaches, withConstructor, withField } from '../breach.js'
import { mergeAndSettle } from '../bridge/scenarios.js'
import { timeOf } from '../evaluate.js'
import { entry, registryOf, retired, running, spendRegistry, stopped } from '../registry/scenarios.js'
import type { TestTransaction } from '../transaction.js'
import {
  ada,
  administrator,
  changeInput,
  changeOutput,
  foreign,
  foreignPolicy,
  foreignScript,
  operator,
  otherOperator,
  root,
  rootName,
  scriptReference,
  stranger,
  type World,
  wallet,
} from '../world.js'
import { commitBreaches } from './commit-breaches.js'
import { pruneBreaches, removeBreaches } from './removal-breaches.js'
import {
  blockOutput,
  blockToken,
  deinit,
  deinitBlocks,
  firstHeader,
  genesis,
  init,
  merge,
  merged,
  otherHash,
  rider,
  rootOutput,
  rootToken,
  secondHeader,
  signedBy,
  spend,
  withDatumHash,
  withRider,
} from './scenarios.js'

const mergeBreaches: readonly Breach[] = [
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

/** Starts a queue while the registry spends its turn on registering a stranger. */
const initBesideRegistration = (world: World, registryOfQueue: typeof running): TestTransaction => {
  const before = registryOfQueue(world, entry(operator))
  const newcomer = entry(stranger, { activeFrom: timeOf(before.running ? 160n : 40n) })
  return {
    ...init(world),
    inputs: [
      { id: 1, output: wallet(ada(1000)) },
      spendRegistry(world, 2, before, { kind: 'register', operator: stranger.hash }),
    ],
    outputs: [
      registryOf(world, registryOfQueue(world, newcomer, entry(operator))),
      ...init(world).outputs.slice(1),
    ],
    signatories: [administrator.hash, stranger.hash],
    validFrom: 50n,
    validTo: 60n,
  }
}

const initBreaches: readonly Breach[] = [
  breach('init-mints-root-only', 'a block is minted as well', (world) => ({
    ...init(world),
    outputs: [...init(world).outputs.slice(0, 2), wallet(ada(96), [blockToken(world, firstHeader)])],
    mint: [rootToken(world), blockToken(world, firstHeader)],
  })),
  breach('init-spends-no-element', 'a block leaves the queue in the same transaction', (world) =>
    withRider(init(world), world, firstHeader),
  ),
  breach('init-not-running', 'the queue runs already: a second root', (world) =>
    initBesideRegistration(world, running),
  ),
  breach('init-registry-notes', 'the registry does not note that the queue runs', (world) =>
    initBesideRegistration(world, stopped),
  ),
  breach('init-registry-notes', 'the registry names another queue', (world) => {
    const other = (datum: RegistryDatum) => ({ ...datum, queue: foreignPolicy })
    const transaction = init(world)
    return {
      ...transaction,
      inputs: [
        transaction.inputs[0]!,
        spendRegistry(world, 2, other(stopped(world, entry(operator))), { kind: 'set-queue', running: true }),
      ],
      outputs: [
        registryOf(world, other(running(world, entry(operator)))),
        ...transaction.outputs.slice(1, 2),
        wallet(ada(96), [{ policy: foreignPolicy, name: rootName, quantity: 1n }]),
      ],
      mint: [...transaction.mint, { policy: foreignPolicy, name: rootName, quantity: 1n }],
      nativeScripts: [foreignScript],
    }
  }),
  ...(
    [
      ['the header hash has 27 bytes', { headerHash: new Uint8Array(27) }],
      ['the previous header hash has 29 bytes', { prevHeaderHash: new Uint8Array(29) }],
      ['the ledger root has 31 bytes', { utxoRoot: new Uint8Array(31) }],
      ['the state ends before it starts', { startTime: genesis.endTime + 1n }],
      ['the block version is negative', { blockVersion: -1n }],
      ['the block version is 2^32', { blockVersion: 2n ** 32n }],
    ] as const
  ).map(([what, change]) =>
    breach('init-state-well-formed', what, (world) =>
      changeOutput(init(world), 1, { datum: encodeRootDatum({ state: { ...genesis, ...change } }) }),
    ),
  ),
  breach('init-state-well-formed', 'the state has a seventh field', (world) =>
    changeOutput(init(world), 1, { datum: withField(encodeRootDatum({ state: genesis }), [0, 6], 0n) }),
  ),
  breach('init-state-well-formed', 'the content is constructor 1', (world) =>
    changeOutput(init(world), 1, { datum: withConstructor(encodeRootDatum({ state: genesis }), [0], 1) }),
  ),
  ...outputBreaches('init-root', init, 1, 'queue'),
  breach('init-root-datum', 'the root links to a block', (world) =>
    changeOutput(init(world), 1, { datum: encodeRootDatum({ state: genesis, link: otherHash }) }),
  ),
  breach('init-root-datum', 'the datum has a third field', (world) =>
    changeOutput(init(world), 1, { datum: withField(encodeRootDatum({ state: genesis }), [2], 0n) }),
  ),
]

const deinitBreaches: readonly Breach[] = [
  breach('deinit-by-administrator', 'an operator signs instead of the administrator', (world) =>
    signedBy(deinitBlocks(world, firstHeader), operator.hash),
  ),
  breach('deinit-by-administrator', 'no one signs', (world) => ({
    ...deinitBlocks(world, firstHeader),
    signatories: [],
  })),
  breach('deinit-leaves-no-token', "a block's token goes to a wallet", (world) => ({
    ...deinitBlocks(world, firstHeader, rider),
    outputs: [wallet(ada(108), [blockToken(world, rider)])],
    mint: [blockToken(world, firstHeader, -1n)],
  })),
  breach('deinit-leaves-no-token', 'a block is paid back to the queue', (world) => ({
    ...deinitBlocks(world, firstHeader, rider),
    outputs: [wallet(ada(104)), blockOutput(world, rider)],
    mint: [blockToken(world, firstHeader, -1n)],
  })),
  breach('deinit-leaves-no-token', 'a block is minted and kept in a wallet', (world) => ({
    ...deinitBlocks(world, firstHeader),
    outputs: [wallet(ada(104), [blockToken(world, rider)])],
    mint: [blockToken(world, rider), blockToken(world, firstHeader, -1n)],
  })),
  breach('deinit-registry-notes', 'the registry is not spent', (world) => ({
    ...deinit(world),
    inputs: deinit(world).inputs.filter(({ id }) => id !== 5),
    outputs: [wallet(ada(108))],
  })),
  breach('deinit-registry-notes', 'the registry notes that the queue still runs', (world) => ({
    ...deinit(world),
    inputs: [
      ...deinit(world).inputs.filter(({ id }) => id !== 5),
      spendRegistry(world, 5, running(world, entry(operator)), { kind: 'retire', operator: operator.hash }),
    ],
    outputs: [registryOf(world, running(world, retired)), wallet(ada(108))],
    signatories: [administrator.hash, operator.hash],
    validFrom: 50n,
    validTo: 60n,
  })),
]

const spendBreaches: readonly Breach[] = [
  breach('spend-under-policy', 'the root leaves the queue without any action of the policy', (world) => ({
    inputs: [spend(2, rootOutput(world, genesis))],
    referenceInputs: [scriptReference(world.queue)],
    outputs: [wallet(ada(3), [rootToken(world)])],
    mint: [],
    mintRedeemers: [],
    signatories: [administrator.hash, operator.hash],
  })),
]

export const queueBreaches: readonly Breach[] = [
  ...initBreaches,
  ...deinitBreaches,
  ...commitBreaches,
  ...mergeBreaches,
  ...removeBreaches,
  ...pruneBreaches,
  ...spendBreaches,
]
