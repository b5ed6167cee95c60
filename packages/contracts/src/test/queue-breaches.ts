import { blake2b224, blake2b256 } from '@ratatosk/ledger'
import { type Header, headerHash } from '../datum/header.js'
import { encodePlutusData } from '../datum/plutus-data.js'
import { blockTokenName, encodeBlockDatum, encodeRootDatum } from '../datum/state-queue.js'
import { type Breach, breach } from './breach.js'
import { dataAt, withConstructor, withField } from './data-edit.js'
import { timeOf } from './evaluate.js'
import { adaBreach, outputBreaches } from './output-breaches.js'
import {
  blockOutput,
  blockToken,
  commitFirst,
  commitSecond,
  deinit,
  firstHeader,
  genesis,
  init,
  merge,
  merged,
  registryOutput,
  rootOutput,
  rootToken,
  secondHeader,
  spend,
} from './queue-scenarios.js'
import type { TestOutput, TestTransaction } from './transaction.js'
import {
  ada,
  administrator,
  changeInput,
  changeOutput,
  foreign,
  operator,
  otherOperator,
  root,
  rootName,
  scriptReference,
  stranger,
  type World,
  wallet,
} from './world.js'

const otherHash = new Uint8Array(28).fill(9)
const signedBy = (transaction: TestTransaction, hash: Uint8Array): TestTransaction => ({
  ...transaction,
  signatories: [hash],
})

/** A block that would be right but for some fields of its header. */
const commitWith = (change: Partial<Header>) => (world: World) =>
  commitSecond(world, { ...secondHeader, ...change })

/** The same for what the type of headers cannot say: the hash is taken of what is written. */
const commitWithData = (edit: (datum: Uint8Array) => Uint8Array) => (world: World) => {
  const datum = edit(encodeBlockDatum({ header: secondHeader }))
  const hash = blake2b224(encodePlutusData(dataAt(datum, [0])))
  const token = { ...blockToken(world, secondHeader), name: blockTokenName(hash) }
  const transaction = commitSecond(world)
  return {
    ...transaction,
    outputs: [
      { ...transaction.outputs[0]!, datum: encodeBlockDatum({ header: firstHeader, link: hash }) },
      { ...transaction.outputs[1]!, datum, tokens: [token] },
      ...transaction.outputs.slice(2),
    ],
    mint: [token],
  }
}

/** Adds an element that is spent at the script and goes on to a wallet. */
const withRider = (transaction: TestTransaction, world: World, header: Header, id = 9): TestTransaction => ({
  ...transaction,
  inputs: [...transaction.inputs, spend(id, blockOutput(world, header))],
  outputs: [...transaction.outputs, wallet(ada(4), [blockToken(world, header)])],
})

const rider: Header = { ...firstHeader, utxosRoot: root(77) }

const initBreaches: readonly Breach[] = [
  breach('init-signed', 'an operator signs', (world) => signedBy(init(world), operator.hash)),
  breach('init-mints-a-root', 'two roots are minted', (world) => ({
    ...init(world),
    outputs: [rootOutput(world, genesis), wallet(ada(96), [rootToken(world)])],
    mint: [rootToken(world, 2n)],
  })),
  breach('init-mints-a-root', 'a block is minted beside the root', (world) => ({
    ...init(world),
    outputs: [rootOutput(world, genesis), wallet(ada(96), [blockToken(world, firstHeader)])],
    mint: [rootToken(world), blockToken(world, firstHeader)],
  })),
  breach('init-spends-nothing', 'a block is carried off meanwhile', (world) =>
    withRider(init(world), world, firstHeader),
  ),
  ...(
    [
      ['the header hash is short', { headerHash: new Uint8Array(27) }],
      ['the previous header hash is long', { prevHeaderHash: new Uint8Array(29) }],
      ['the root is short', { utxoRoot: new Uint8Array(31) }],
      ['it ends before it starts', { startTime: genesis.endTime + 1n }],
      ['the protocol version is negative', { protocolVersion: -1n }],
      ['the protocol version is 2^32', { protocolVersion: 2n ** 32n }],
    ] as const
  ).map(([what, change]) =>
    breach('init-state', what, (world) =>
      changeOutput(init(world), 0, { datum: encodeRootDatum({ state: { ...genesis, ...change } }) }),
    ),
  ),
  breach('init-state', 'it has a seventh field', (world) =>
    changeOutput(init(world), 0, { datum: withField(encodeRootDatum({ state: genesis }), [0, 6], 0n) }),
  ),
  breach('init-state', 'it is another constructor', (world) =>
    changeOutput(init(world), 0, { datum: withConstructor(encodeRootDatum({ state: genesis }), [0], 1) }),
  ),
  ...outputBreaches('init', init, 0, 'queue'),
  breach('init-datum', 'it links to a block', (world) =>
    changeOutput(init(world), 0, { datum: encodeRootDatum({ state: genesis, link: otherHash }) }),
  ),
  breach('init-datum', 'it has a third field', (world) =>
    changeOutput(init(world), 0, { datum: withField(encodeRootDatum({ state: genesis }), [2], 0n) }),
  ),
]

const deinitBreaches: readonly Breach[] = [
  breach('deinit-signed', 'an operator signs', (world) => signedBy(deinit(world), operator.hash)),
  breach('deinit-leaves-no-token', 'a block goes on to a wallet', (world) => ({
    ...deinit(world),
    outputs: [wallet(ada(108), [blockToken(world, firstHeader)])],
    mint: [rootToken(world, -1n)],
  })),
  breach('deinit-leaves-no-token', 'a block stays where it is', (world) => ({
    ...deinit(world),
    outputs: [wallet(ada(104)), blockOutput(world, firstHeader)],
    mint: [rootToken(world, -1n)],
  })),
  breach('deinit-leaves-no-token', 'a root is minted', (world) => ({
    ...deinit(world),
    outputs: [wallet(ada(104), [rootToken(world)])],
    mint: [rootToken(world, 1n), blockToken(world, firstHeader, -1n)],
    inputs: deinit(world).inputs.filter(({ id }) => id !== 2),
  })),
]

const commitBreaches: readonly Breach[] = [
  breach('commit-token-is-header-hash', 'the token has the hash of another header', (world) => {
    const token = { ...blockToken(world, secondHeader), name: blockTokenName(otherHash) }
    return { ...changeOutput(commitSecond(world), 1, { tokens: [token] }), mint: [token] }
  }),
  breach('commit-token-is-header-hash', 'the token has another prefix', (world) => {
    const token = blockToken(world, secondHeader)
    const renamed = { ...token, name: Uint8Array.of(0x4e, ...token.name.subarray(1)) }
    return { ...changeOutput(commitSecond(world), 1, { tokens: [renamed] }), mint: [renamed] }
  }),
  breach('commit-mints-one-token', 'two tokens are minted and paid to the block', (world) => {
    const tokens = [blockToken(world, secondHeader, 2n)]
    return { ...changeOutput(commitSecond(world), 1, { tokens }), mint: tokens }
  }),
  breach('commit-mints-one-token', 'a second block is minted and paid to the block', (world) => {
    const token = blockToken(world, secondHeader)
    const tokens = [token, { ...token, name: Uint8Array.of(0xff, ...token.name.subarray(1)) }]
    return { ...changeOutput(commitSecond(world), 1, { tokens }), mint: tokens }
  }),
  breach('commit-spends-one-element', 'another block is carried off', (world) =>
    withRider(commitSecond(world), world, rider),
  ),
  breach('commit-spends-one-element', 'an output without a token is swept up', (world) => {
    const transaction = commitSecond(world)
    const garbage = spend(9, { address: world.queue.address, lovelace: ada(2) })
    return { ...transaction, inputs: [...transaction.inputs, garbage] }
  }),
  breach('commit-spends-a-real-element', 'a forged root under a foreign policy is extended', (world) => {
    const tokens = [foreign(rootName)]
    return changeOutput(changeInput(commitFirst(world), 2, { tokens }), 0, { tokens })
  }),
  breach('commit-spends-a-real-element', 'a forged block under a foreign policy is extended', (world) => {
    const tokens = [foreign(blockToken(world, firstHeader).name)]
    return changeOutput(changeInput(commitSecond(world), 2, { tokens }), 0, { tokens })
  }),
  breach('commit-at-the-tail', 'a block that has a next one is extended', (world) =>
    changeInput(commitSecond(world), 2, {
      datum: encodeBlockDatum({ header: firstHeader, link: otherHash }),
    }),
  ),
  breach('commit-at-the-tail', 'a root that has a next one is extended', (world) =>
    changeInput(commitFirst(world), 2, { datum: encodeRootDatum({ state: genesis, link: otherHash }) }),
  ),
  breach('header-prev-header-hash', 'it follows another block', commitWith({ prevHeaderHash: otherHash })),
  breach('header-prev-header-hash', 'it does not follow the confirmed state', (world) =>
    commitFirst(world, { ...firstHeader, prevHeaderHash: otherHash }),
  ),
  breach(
    'header-prev-utxos-root',
    'it begins with another root than the block before',
    commitWith({ prevUtxosRoot: root(99) }),
  ),
  breach('header-prev-utxos-root', 'it begins with another root than the confirmed state', (world) =>
    commitFirst(world, { ...firstHeader, prevUtxosRoot: root(99) }),
  ),
  breach(
    'header-start-time',
    'it starts after the end of the block before',
    commitWith({ startTime: secondHeader.startTime + 1n }),
  ),
  breach('header-start-time', 'it starts before the end of the confirmed state', (world) =>
    commitFirst(world, { ...firstHeader, startTime: genesis.endTime - 1n }),
  ),
  ...([1n, -1n] as const).map((shift) =>
    breach('header-end-time', `it ends ${shift} ms from the end of the transaction's validity`, (world) => ({
      ...commitSecond(world, { ...secondHeader, endTime: secondHeader.endTime + shift }),
      validTo: 80n,
    })),
  ),
  breach('header-not-empty', 'it ends when it starts', (world) =>
    commitSecond(world, { ...secondHeader, endTime: firstHeader.endTime }),
  ),
  breach('header-not-empty', 'it ends before it starts', (world) =>
    commitSecond(world, { ...secondHeader, endTime: firstHeader.endTime - 1000n }),
  ),
  breach(
    'header-shape',
    'it has an eleventh field',
    commitWithData((datum) => withField(datum, [0, 10], 0n)),
  ),
  breach(
    'header-shape',
    'it is another constructor',
    commitWithData((datum) => withConstructor(datum, [0], 1)),
  ),
  ...(['utxosRoot', 'transactionsRoot', 'depositsRoot', 'withdrawalsRoot'] as const).flatMap((name) =>
    [31, 33].map((length) =>
      breach('header-roots', `${name} has ${length} bytes`, commitWith({ [name]: new Uint8Array(length) })),
    ),
  ),
  breach('header-protocol-version', 'it is 2^32', commitWith({ protocolVersion: 2n ** 32n })),
  breach('header-protocol-version', 'it is negative', commitWith({ protocolVersion: -1n })),
  breach('commit-signed', 'another operator signs', (world) =>
    signedBy(commitSecond(world), otherOperator.hash),
  ),
  breach('commit-signed', 'nobody signs', (world) => ({ ...commitSecond(world), signatories: [] })),
  breach('commit-in-turn', 'it is the other operator’s turn', (world) =>
    withRegistry(commitSecond(world), registryOutput(world, [otherOperator.hash, operator.hash])),
  ),
  breach('commit-in-turn', 'the operator is not in the registry', (world) =>
    withRegistry(commitSecond(world), registryOutput(world, [otherOperator.hash, stranger.hash])),
  ),
  breach('commit-in-turn', 'nobody is in the registry', (world) =>
    withRegistry(commitSecond(world), registryOutput(world, [])),
  ),
  breach('commit-in-turn', 'the registry is forged under a foreign policy', (world) =>
    withRegistry(commitSecond(world), { ...registryOutput(world), tokens: [foreign(rootName)] }),
  ),
  breach('commit-in-turn', 'no registry is referred to', (world) => ({
    ...commitSecond(world),
    referenceInputs: [scriptReference(world.queue)],
  })),
  breach('commit-within-one-turn', 'it reaches into the next turn', (world) =>
    commitSecond(world, { ...secondHeader, endTime: timeOf(101n) }),
  ),
  ...outputBreaches('commit-carries', commitSecond, 0, 'queue'),
  ...outputBreaches('commit-carries', commitFirst, 0, 'queue'),
  adaBreach('commit-carries', commitSecond, 0),
  breach('commit-carries-datum', 'it links to another block', (world) =>
    changeOutput(commitSecond(world), 0, {
      datum: encodeBlockDatum({ header: firstHeader, link: otherHash }),
    }),
  ),
  breach('commit-carries-datum', 'the block before is altered', (world) =>
    changeOutput(commitSecond(world), 0, {
      datum: encodeBlockDatum({ header: rider, link: headerHash(secondHeader) }),
    }),
  ),
  breach('commit-carries-datum', 'the confirmed state is altered', (world) =>
    changeOutput(commitFirst(world), 0, {
      datum: encodeRootDatum({ state: { ...genesis, utxoRoot: root(66) }, link: headerHash(firstHeader) }),
    }),
  ),
  breach('commit-carries-datum', 'there is but the hash of one', (world) =>
    withDatumHash(commitSecond(world), 0),
  ),
  ...outputBreaches('commit-adds', commitSecond, 1, 'queue'),
  breach('commit-adds-datum', 'it links to a next block already', (world) =>
    changeOutput(commitSecond(world), 1, {
      datum: encodeBlockDatum({ header: secondHeader, link: otherHash }),
    }),
  ),
  breach('commit-adds-datum', 'it has a third field', (world) =>
    changeOutput(commitSecond(world), 1, {
      datum: withField(encodeBlockDatum({ header: secondHeader }), [2], 0n),
    }),
  ),
  breach('commit-adds-tokens', 'the token goes to a wallet', (world) => ({
    ...changeOutput(commitSecond(world), 1, { tokens: [] }),
    outputs: [
      ...changeOutput(commitSecond(world), 1, { tokens: [] }).outputs.slice(0, 2),
      wallet(ada(95), [blockToken(world, secondHeader)]),
    ],
  })),
]

function withRegistry(transaction: TestTransaction, output: TestOutput): TestTransaction {
  return {
    ...transaction,
    referenceInputs: transaction.referenceInputs.map((input) =>
      input.id === 200 ? { id: 200, output } : input,
    ),
  }
}

function withDatumHash(transaction: TestTransaction, index: number): TestTransaction {
  return {
    ...transaction,
    outputs: transaction.outputs.map((output, i) => {
      if (i !== index) return output
      const { datum, ...rest } = output
      return { ...rest, datumHash: blake2b256(datum!) }
    }),
  }
}

const mergeBreaches: readonly Breach[] = [
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
      { ...merge(world).outputs[1]!, datum: Uint8Array.of(0x58, 28, ...headerHash(secondHeader)) },
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
    changeOutput(merge(world), 1, { datum: Uint8Array.of(0x58, 28, ...otherHash) }),
  ),
  breach('merge-refunds-datum', 'it is not marked', (world) => {
    const transaction = merge(world)
    const { datum: _, ...unmarked } = transaction.outputs[1]!
    return { ...transaction, outputs: [transaction.outputs[0]!, unmarked, ...transaction.outputs.slice(2)] }
  }),
]

const spendBreaches: readonly Breach[] = [
  breach('spend-by-policy', 'the root is carried off without any action', (world) => ({
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
  ...spendBreaches,
]
