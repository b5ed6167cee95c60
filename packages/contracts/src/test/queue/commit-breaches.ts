import { type Header, headerHash } from '@ratatosk/block'
import { blake2b224 } from '@ratatosk/ledger'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { blockTokenName, encodeBlockDatum, encodeRootDatum } from '../../datum/state-queue.js'
import {
  adaBreach,
  type Breach,
  breach,
  dataAt,
  outputBreaches,
  withConstructor,
  withField,
} from '../breach.js'
import { timeOf } from '../evaluate.js'
import { entry, registryOf, running } from '../registry/scenarios.js'
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
import {
  blockOutput,
  blockToken,
  commitFirst,
  commitSecond,
  firstHeader,
  genesis,
  otherHash,
  registryOutput,
  rider,
  secondHeader,
  signedBy,
  spend,
  takeOverFirst,
  takeOverSecond,
  withDatumHash,
  withRider,
} from './scenarios.js'

/** A commit whose header differs in some fields. */
const commitWith = (change: Partial<Header>) => (world: World) =>
  commitSecond(world, { ...secondHeader, ...change })

/** A commit whose header is not of type `Header`; the token has the hash of the edited header. */
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
  breach('commit-token-name', 'the token names another header', (world) => {
    const token = { ...blockToken(world, secondHeader), name: blockTokenName(otherHash) }
    return { ...changeOutput(commitSecond(world), 1, { tokens: [token] }), mint: [token] }
  }),
  breach('commit-token-name', 'the token has another prefix', (world) => {
    const token = blockToken(world, secondHeader)
    const renamed = { ...token, name: Uint8Array.of(0x4e, ...token.name.subarray(1)) }
    return { ...changeOutput(commitSecond(world), 1, { tokens: [renamed] }), mint: [renamed] }
  }),
  breach('commit-mints-block-only', 'two tokens of the block are minted', (world) => {
    const tokens = [blockToken(world, secondHeader, 2n)]
    return { ...changeOutput(commitSecond(world), 1, { tokens }), mint: tokens }
  }),
  breach('commit-mints-block-only', 'a token with another name is minted as well', (world) => {
    const token = blockToken(world, secondHeader)
    const tokens = [token, { ...token, name: Uint8Array.of(0xff, ...token.name.subarray(1)) }]
    return { ...changeOutput(commitSecond(world), 1, { tokens }), mint: tokens }
  }),
  breach('commit-spends-one-element', 'another block leaves the queue in the same transaction', (world) =>
    withRider(commitSecond(world), world, rider),
  ),
  breach('commit-spends-one-element', 'an output without a token is spent as well', (world) => {
    const transaction = commitSecond(world)
    const garbage = spend(9, { address: world.queue.address, lovelace: ada(2) })
    return { ...transaction, inputs: [...transaction.inputs, garbage] }
  }),
  breach('commit-spends-genuine-element', 'the spent root has a token of a foreign policy', (world) => {
    const tokens = [foreign(rootName)]
    return changeOutput(changeInput(commitFirst(world), 2, { tokens }), 0, { tokens })
  }),
  breach('commit-spends-genuine-element', 'the spent block has a token of a foreign policy', (world) => {
    const tokens = [foreign(blockToken(world, firstHeader).name)]
    return changeOutput(changeInput(commitSecond(world), 2, { tokens }), 0, { tokens })
  }),
  breach('commit-extends-last-element', 'the spent block links to another block already', (world) =>
    changeInput(commitSecond(world), 2, {
      datum: encodeBlockDatum({ header: firstHeader, link: otherHash }),
    }),
  ),
  breach('commit-extends-last-element', 'the spent root links to a block already', (world) =>
    changeInput(commitFirst(world), 2, { datum: encodeRootDatum({ state: genesis, link: otherHash }) }),
  ),
  breach(
    'commit-prev-header-hash',
    'the header names another block as its predecessor',
    commitWith({ prevHeaderHash: otherHash }),
  ),
  breach(
    'commit-prev-header-hash',
    'the header does not name the confirmed state as its predecessor',
    (world) => commitFirst(world, { ...firstHeader, prevHeaderHash: otherHash }),
  ),
  breach(
    'commit-prev-utxos-root',
    'the block starts from another root than its predecessor ends with',
    commitWith({ prevUtxosRoot: root(99) }),
  ),
  breach('commit-prev-utxos-root', 'the block starts from another root than the confirmed state', (world) =>
    commitFirst(world, { ...firstHeader, prevUtxosRoot: root(99) }),
  ),
  breach(
    'commit-start-time',
    'the block starts after its predecessor ends',
    commitWith({ startTime: secondHeader.startTime + 1n }),
  ),
  breach('commit-start-time', 'the block starts before the confirmed state ends', (world) =>
    commitFirst(world, { ...firstHeader, startTime: genesis.endTime - 1n }),
  ),
  ...([1n, -1n] as const).map((shift) =>
    breach(
      'commit-end-time',
      `the block ends ${shift} ms from the transaction's upper validity bound`,
      (world) => ({
        ...commitSecond(world, { ...secondHeader, endTime: secondHeader.endTime + shift }),
        validTo: 80n,
      }),
    ),
  ),
  breach('commit-positive-duration', 'the block ends when it starts', (world) =>
    commitSecond(world, { ...secondHeader, endTime: firstHeader.endTime }),
  ),
  breach('commit-positive-duration', 'the state ends before it starts', (world) =>
    commitSecond(world, { ...secondHeader, endTime: firstHeader.endTime - 1000n }),
  ),
  breach(
    'commit-header-shape',
    'the header has an eleventh field',
    commitWithData((datum) => withField(datum, [0, 10], 0n)),
  ),
  breach(
    'commit-header-shape',
    'the content is constructor 1',
    commitWithData((datum) => withConstructor(datum, [0], 1)),
  ),
  ...(['utxosRoot', 'transactionsRoot'] as const).flatMap((name) =>
    [31, 33].map((length) =>
      breach(
        'commit-root-lengths',
        `${name} has ${length} bytes`,
        commitWith({ [name]: new Uint8Array(length) }),
      ),
    ),
  ),
  ...(['depositsRoot', 'withdrawalsRoot'] as const).flatMap((name) => [
    breach(
      'commit-event-roots',
      `${name} is not the empty root, without a bridge`,
      commitWith({ [name]: root(1) }),
      { bridge: false },
    ),
    ...[0, 31, 33].map((length) =>
      breach(
        'commit-event-roots',
        `${name} has ${length} bytes`,
        commitWith({ [name]: new Uint8Array(length) }),
      ),
    ),
  ]),
  breach('commit-block-version', "the version is not the script's", commitWith({ blockVersion: 2n })),
  breach('commit-block-version', "the version is the predecessor's and not the script's", (world) => {
    const old = { ...firstHeader, blockVersion: 2n }
    const header = { ...secondHeader, prevHeaderHash: headerHash(old), blockVersion: 2n }
    return {
      ...changeInput(commitSecond(world, header), 2, blockOutput(world, old)),
      outputs: [blockOutput(world, old, header), ...commitSecond(world, header).outputs.slice(1)],
    }
  }),
  breach('commit-signed-by-operator', 'another operator signs', (world) =>
    signedBy(commitSecond(world), otherOperator.hash),
  ),
  breach('commit-signed-by-operator', 'no one signs', (world) => ({
    ...commitSecond(world),
    signatories: [],
  })),
  breach('commit-in-turn', 'another operator is in turn', (world) =>
    withRegistry(commitSecond(world), registryOutput(world, [otherOperator.hash, operator.hash])),
  ),
  breach('commit-in-turn', 'the operator is not registered', (world) =>
    withRegistry(commitSecond(world), registryOutput(world, [otherOperator.hash, stranger.hash])),
  ),
  breach('commit-in-turn', 'the operator does not count before a later turn', (world) =>
    withRegistry(
      commitSecond(world),
      registryOf(world, running(world, entry(operator, { activeFrom: timeOf(100n) }), entry(otherOperator))),
    ),
  ),
  breach('commit-in-turn', 'the operator counts no longer', (world) =>
    withRegistry(
      commitSecond(world),
      registryOf(world, running(world, entry(operator, { activeUntil: timeOf(40n) }), entry(otherOperator))),
    ),
  ),
  breach('commit-in-turn', 'the registry is empty', (world) =>
    withRegistry(commitSecond(world), registryOutput(world, [])),
  ),
  breach('commit-in-turn', "the registry's token is of a foreign policy", (world) =>
    withRegistry(commitSecond(world), { ...registryOutput(world), tokens: [foreign(rootName)] }),
  ),
  breach('commit-in-turn', 'no reference input is the registry', (world) => ({
    ...commitSecond(world),
    referenceInputs: [scriptReference(world.queue)],
  })),
  breach('commit-in-turn', 'another operator takes over a slot too early after a block', (world) =>
    takeOverSecond(world, { from: 74n, until: 89n }),
  ),
  breach('commit-in-turn', 'another operator takes over a slot too early after the root', (world) =>
    takeOverFirst(world, 59n),
  ),
  breach('commit-in-turn', 'another operator takes over for longer than may be', (world) =>
    takeOverSecond(world, { until: 91n }),
  ),
  breach('commit-in-turn', 'a stranger takes over', (world) => takeOverSecond(world, { by: stranger.hash })),
  breach('commit-in-turn', 'an operator takes over who does not count before a later turn', (world) =>
    withRegistry(
      takeOverSecond(world),
      registryOf(world, running(world, entry(operator), entry(otherOperator, { activeFrom: timeOf(100n) }))),
    ),
  ),
  breach('commit-in-turn', 'an operator takes over who counts no longer', (world) =>
    withRegistry(
      takeOverSecond(world),
      registryOf(world, running(world, entry(operator), entry(otherOperator, { activeUntil: timeOf(40n) }))),
    ),
  ),
  breach('commit-within-one-turn', 'an operator takes over into the next turn', (world) =>
    takeOverSecond(world, { from: 90n, until: 101n }),
  ),
  breach('commit-within-one-turn', 'the validity interval reaches into the next turn', (world) =>
    commitSecond(world, { ...secondHeader, endTime: timeOf(101n) }),
  ),
  ...outputBreaches('commit-continues', commitSecond, 0, 'queue'),
  ...outputBreaches('commit-continues', commitFirst, 0, 'queue'),
  adaBreach('commit-continues', commitSecond, 0),
  breach('commit-continues-datum', 'the predecessor links to another block', (world) =>
    changeOutput(commitSecond(world), 0, {
      datum: encodeBlockDatum({ header: firstHeader, link: otherHash }),
    }),
  ),
  breach('commit-continues-datum', "the predecessor's header changes", (world) =>
    changeOutput(commitSecond(world), 0, {
      datum: encodeBlockDatum({ header: rider, link: headerHash(secondHeader) }),
    }),
  ),
  breach('commit-continues-datum', 'the confirmed state changes', (world) =>
    changeOutput(commitFirst(world), 0, {
      datum: encodeRootDatum({ state: { ...genesis, utxoRoot: root(66) }, link: headerHash(firstHeader) }),
    }),
  ),
  breach('commit-continues-datum', 'the datum is a hash instead of inline', (world) =>
    withDatumHash(commitSecond(world), 0),
  ),
  ...outputBreaches('commit-appends', commitSecond, 1, 'queue'),
  breach('commit-appends-datum', 'the new block links to a next block', (world) =>
    changeOutput(commitSecond(world), 1, {
      datum: encodeBlockDatum({ header: secondHeader, link: otherHash }),
    }),
  ),
  breach('commit-appends-datum', 'the datum has a third field', (world) =>
    changeOutput(commitSecond(world), 1, {
      datum: withField(encodeBlockDatum({ header: secondHeader }), [2], 0n),
    }),
  ),
  breach('commit-appends-tokens', 'the token is paid to a wallet', (world) => ({
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
