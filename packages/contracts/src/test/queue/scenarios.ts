import { genesisHeaderHash, type Header, headerHash } from '@ratatosk/block'
import { blake2b256 } from '@ratatosk/ledger'
import {
  blockTokenName,
  type ConfirmedState,
  encodeBlockDatum,
  encodeQueueAction,
  encodeQueueSpend,
  encodeRefundDatum,
  encodeRootDatum,
  type QueueAction,
} from '../../datum/state-queue.js'
import { timeOf } from '../evaluate.js'
import {
  entry,
  init as initRegistry,
  registryOf,
  running,
  spendRegistry,
  stopped,
} from '../registry/scenarios.js'
import type { TestInput, TestOutput, TestTransaction, Token } from '../transaction.js'
import {
  ada,
  administrator,
  operator,
  otherOperator,
  root,
  rootName,
  scriptReference,
  type World,
  wallet,
  walletAddress,
} from '../world.js'

/*
 * Transactions that the state queue accepts. `operator` is in turn in slots 40 to 99.
 */

export const genesis: ConfirmedState = {
  headerHash: genesisHeaderHash(),
  prevHeaderHash: genesisHeaderHash(),
  utxoRoot: root(1),
  startTime: timeOf(0n),
  endTime: timeOf(45n),
  blockVersion: 1n,
}

export const firstHeader: Header = {
  prevUtxosRoot: genesis.utxoRoot,
  utxosRoot: root(2),
  transactionsRoot: root(3),
  depositsRoot: root(0),
  withdrawalsRoot: root(0),
  startTime: genesis.endTime,
  endTime: timeOf(60n),
  prevHeaderHash: genesis.headerHash,
  operatorVkey: operator.hash,
  blockVersion: 1n,
}

export const secondHeader: Header = {
  ...firstHeader,
  prevUtxosRoot: firstHeader.utxosRoot,
  utxosRoot: root(4),
  startTime: firstHeader.endTime,
  endTime: timeOf(80n),
  prevHeaderHash: headerHash(firstHeader),
}

export const rootToken = ({ queue }: World, quantity = 1n): Token => ({
  policy: queue.policy,
  name: rootName,
  quantity,
})
export const blockToken = ({ queue }: World, header: Header, quantity = 1n): Token => ({
  policy: queue.policy,
  name: blockTokenName(headerHash(header)),
  quantity,
})

const linked = (header: Header | undefined) => (header === undefined ? {} : { link: headerHash(header) })

export const rootOutput = (world: World, state: ConfirmedState, next?: Header): TestOutput => ({
  address: world.queue.address,
  lovelace: ada(3),
  tokens: [rootToken(world)],
  datum: encodeRootDatum({ state, ...linked(next) }),
})

export const blockOutput = (world: World, header: Header, next?: Header): TestOutput => ({
  address: world.queue.address,
  lovelace: ada(4),
  tokens: [blockToken(world, header)],
  datum: encodeBlockDatum({ header, ...linked(next) }),
})

/** The registry beside the queue, with operators who all count in every turn. */
export const registryOutput = (
  world: World,
  vkeys: readonly Uint8Array[] = [operator.hash, otherOperator.hash],
): TestOutput => registryOf(world, running(world, ...vkeys.map((hash) => entry({ hash }))))

export const spend = (id: number, output: TestOutput, leastIndex = 0): TestInput => ({
  id,
  output,
  redeemer: encodeQueueSpend(leastIndex),
})

export const minting = (world: World, action: QueueAction, ...mint: Token[]) => ({
  mint,
  mintRedeemers: [{ policy: world.queue.policy, redeemer: encodeQueueAction(action) }],
})

export const references = (world: World): TestInput[] => [
  scriptReference(world.queue),
  scriptReference(world.registry, 251),
]

export const init = (world: World): TestTransaction => ({
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    spendRegistry(world, 2, stopped(world, entry(operator)), { kind: 'set-queue', running: true }),
  ],
  referenceInputs: references(world),
  outputs: [registryOf(world, running(world, entry(operator))), rootOutput(world, genesis), wallet(ada(96))],
  ...minting(world, { kind: 'init' }, rootToken(world)),
  signatories: [administrator.hash],
})

/** Starts registry and queue at once, where the administrator is renounced. */
export const deploy = (world: World): TestTransaction => {
  const registry = initRegistry(world)
  const queue = minting(world, { kind: 'init' }, rootToken(world))
  return {
    ...registry,
    referenceInputs: references(world),
    outputs: [registryOf(world, running(world)), rootOutput(world, genesis), wallet(ada(102))],
    mint: [...registry.mint, ...queue.mint],
    mintRedeemers: [...registry.mintRedeemers, ...queue.mintRedeemers],
    signatories: [],
  }
}

/** Burns a root and a block, and sweeps up an output that a stranger left at the address. */
export const deinit = (world: World): TestTransaction => ({
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    spend(2, rootOutput(world, genesis, firstHeader)),
    spend(3, blockOutput(world, firstHeader)),
    spend(4, { address: world.queue.address, lovelace: ada(2) }),
    spendRegistry(world, 5, running(world, entry(operator)), { kind: 'set-queue', running: false }),
  ],
  referenceInputs: references(world),
  outputs: [registryOf(world, stopped(world, entry(operator))), wallet(ada(108))],
  ...minting(world, { kind: 'deinit' }, rootToken(world, -1n), blockToken(world, firstHeader, -1n)),
  signatories: [administrator.hash],
})

/** Burns blocks and leaves the root. */
export const deinitBlocks = (world: World, ...headers: Header[]): TestTransaction => ({
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    ...headers.map((header, place) => spend(2 + place, blockOutput(world, header), place)),
  ],
  referenceInputs: [scriptReference(world.queue)],
  outputs: [wallet(ada(100 + 4 * headers.length))],
  ...minting(world, { kind: 'deinit' }, ...headers.map((header) => blockToken(world, header, -1n))),
  signatories: [administrator.hash],
})

/** The administrator removes the first of two blocks: the root then links to the second. */
export const remove = (world: World, header = firstHeader): TestTransaction => ({
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    spend(2, rootOutput(world, genesis, header)),
    spend(3, blockOutput(world, header, secondHeader)),
  ],
  referenceInputs: [scriptReference(world.queue)],
  outputs: [rootOutput(world, genesis, secondHeader), wallet(ada(104))],
  ...minting(
    world,
    { kind: 'remove', headerHash: headerHash(header), approach: 'by-administrator' },
    blockToken(world, header, -1n),
  ),
  signatories: [administrator.hash],
})

/** The administrator removes the last of two blocks: the first then links to none. */
export const removeLast = (world: World): TestTransaction => ({
  ...remove(world),
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    spend(2, blockOutput(world, firstHeader, secondHeader)),
    spend(3, blockOutput(world, secondHeader)),
  ],
  outputs: [blockOutput(world, firstHeader), wallet(ada(104))],
  ...minting(
    world,
    { kind: 'remove', headerHash: headerHash(secondHeader), approach: 'by-administrator' },
    blockToken(world, secondHeader, -1n),
  ),
})

const commit = (world: World, last: TestOutput, linked: TestOutput, header: Header): TestTransaction => ({
  inputs: [{ id: 1, output: wallet(ada(100)) }, spend(2, last)],
  referenceInputs: [{ id: 200, output: registryOutput(world) }, scriptReference(world.queue)],
  outputs: [linked, blockOutput(world, header), wallet(ada(95))],
  ...minting(world, { kind: 'commit' }, blockToken(world, header)),
  signatories: [operator.hash],
  validFrom: 50n,
  validTo: (header.endTime - timeOf(0n)) / 1000n,
})

export const commitFirst = (world: World, header = firstHeader): TestTransaction =>
  commit(world, rootOutput(world, genesis), rootOutput(world, genesis, header), header)

export const commitSecond = (world: World, header = secondHeader): TestTransaction =>
  commit(world, blockOutput(world, firstHeader), blockOutput(world, firstHeader, header), header)

/** Another operator takes over where the operator in turn is silent. */
const takeOver = (transaction: TestTransaction, validFrom: bigint, by = otherOperator.hash) => ({
  ...transaction,
  signatories: [by],
  validFrom,
})

/** Takes over after a block, which ended in slot 60, with a block as long as it may be. */
export const takeOverSecond = (
  world: World,
  { by = otherOperator.hash, from = 75n, until = 90n } = {},
): TestTransaction =>
  takeOver(commitSecond(world, { ...secondHeader, operatorVkey: by, endTime: timeOf(until) }), from, by)

/** Takes over after the root, whose state ends in slot 45. */
export const takeOverFirst = (world: World, from = 60n): TestTransaction =>
  takeOver(
    commitFirst(world, { ...firstHeader, operatorVkey: otherOperator.hash, endTime: timeOf(75n) }),
    from,
  )

const confirmedBy = (header: Header): ConfirmedState => ({
  headerHash: headerHash(header),
  prevHeaderHash: header.prevHeaderHash,
  utxoRoot: header.utxosRoot,
  startTime: header.startTime,
  endTime: header.endTime,
  blockVersion: header.blockVersion,
})

export const merged: ConfirmedState = confirmedBy(firstHeader)

/** Returns a block's ada to its operator. */
export const refund = (header: Header): TestOutput => ({
  address: walletAddress(header.operatorVkey),
  lovelace: ada(4),
  datum: encodeRefundDatum(headerHash(header)),
})

/** Merges a block in the first slot in which it is mature. */
export const merge = (world: World, header = firstHeader): TestTransaction => ({
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    spend(2, rootOutput(world, genesis, header)),
    spend(3, blockOutput(world, header, secondHeader)),
  ],
  referenceInputs: [scriptReference(world.queue)],
  outputs: [rootOutput(world, confirmedBy(header), secondHeader), refund(header), wallet(ada(99))],
  ...minting(world, { kind: 'merge' }, blockToken(world, header, -1n)),
  signatories: [],
  validFrom: 90n,
})

export const otherHash = new Uint8Array(28).fill(9)
export const signedBy = (transaction: TestTransaction, hash: Uint8Array): TestTransaction => ({
  ...transaction,
  signatories: [hash],
})

/** Spends another element of the queue and pays its token to a wallet. */
export const withRider = (
  transaction: TestTransaction,
  world: World,
  header: Header,
  id = 9,
): TestTransaction => ({
  ...transaction,
  inputs: [...transaction.inputs, spend(id, blockOutput(world, header))],
  outputs: [...transaction.outputs, wallet(ada(4), [blockToken(world, header)])],
})

export const rider: Header = { ...firstHeader, utxosRoot: root(77) }

export function withDatumHash(transaction: TestTransaction, index: number): TestTransaction {
  return {
    ...transaction,
    outputs: transaction.outputs.map((output, i) => {
      if (i !== index) return output
      const { datum, ...rest } = output
      return { ...rest, datumHash: blake2b256(datum!) }
    }),
  }
}
