import { blake2b224 } from '@ratatosk/ledger'
import { type Header, headerHash } from '../../datum/header.js'
import { encodePlutusData } from '../../datum/plutus-data.js'
import { blockTokenName, encodeBlockDatum, encodeRootDatum } from '../../datum/state-queue.js'
import { type Breach, breach } from '../breach.js'
import { dataAt, withConstructor, withField } from '../data-edit.js'
import { timeOf } from '../evaluate.js'
import { adaBreach, outputBreaches } from '../output-breaches.js'
import type { TestOutput, TestTransaction } from '../transaction.js'
import {
  ada,
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
} from '../world.js'
import { otherHash, rider, signedBy, withDatumHash, withRider } from './edits.js'
import {
  blockToken,
  commitFirst,
  commitSecond,
  firstHeader,
  genesis,
  registryOutput,
  secondHeader,
  spend,
} from './scenarios.js'

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

export const commitBreaches: readonly Breach[] = [
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
