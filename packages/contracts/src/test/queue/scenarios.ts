import { genesisHeaderHash, type Header, headerHash } from '../../datum/header.js'
import { encodeRegistryDatum } from '../../datum/registry.js'
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
import type { TestInput, TestOutput, TestTransaction, Token } from '../transaction.js'
import {
  ada,
  administrator,
  bond,
  operator,
  otherOperator,
  registryName,
  root,
  rootName,
  scriptReference,
  type World,
  wallet,
  walletAddress,
} from '../world.js'

/*
 * Transactions that keep every rule of the state queue. Slots 40 to 99 are the turn of `operator`.
 */

export const genesis: ConfirmedState = {
  headerHash: genesisHeaderHash(),
  prevHeaderHash: genesisHeaderHash(),
  utxoRoot: root(1),
  startTime: timeOf(0n),
  endTime: timeOf(45n),
  protocolVersion: 1n,
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
  protocolVersion: 1n,
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

export const registryOutput = (
  world: World,
  vkeys: readonly Uint8Array[] = [operator.hash, otherOperator.hash],
): TestOutput => ({
  address: world.registry.address,
  lovelace: ada(5) + bond * BigInt(vkeys.length),
  tokens: [{ policy: world.registry.policy, name: registryName, quantity: 1n }],
  datum: encodeRegistryDatum({ active: vkeys.map((vkey) => ({ vkey, bond })), retired: [] }),
})

export const spend = (id: number, output: TestOutput): TestInput => ({
  id,
  output,
  redeemer: encodeQueueSpend(),
})

export const minting = (world: World, action: QueueAction, ...mint: Token[]) => ({
  mint,
  mintRedeemers: [{ policy: world.queue.policy, redeemer: encodeQueueAction(action) }],
})

export const init = (world: World): TestTransaction => ({
  inputs: [{ id: 1, output: wallet(ada(100)) }],
  referenceInputs: [scriptReference(world.queue)],
  outputs: [rootOutput(world, genesis), wallet(ada(96))],
  ...minting(world, { kind: 'init' }, rootToken(world)),
  signatories: [administrator.hash],
})

/** Also takes away what somebody has left at the address. */
export const deinit = (world: World): TestTransaction => ({
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    spend(2, rootOutput(world, genesis, firstHeader)),
    spend(3, blockOutput(world, firstHeader)),
    spend(4, { address: world.queue.address, lovelace: ada(2) }),
  ],
  referenceInputs: [scriptReference(world.queue)],
  outputs: [wallet(ada(108))],
  ...minting(world, { kind: 'deinit' }, rootToken(world, -1n), blockToken(world, firstHeader, -1n)),
  signatories: [administrator.hash],
})

const commit = (world: World, last: TestOutput, carried: TestOutput, header: Header): TestTransaction => ({
  inputs: [{ id: 1, output: wallet(ada(100)) }, spend(2, last)],
  referenceInputs: [{ id: 200, output: registryOutput(world) }, scriptReference(world.queue)],
  outputs: [carried, blockOutput(world, header), wallet(ada(95))],
  ...minting(world, { kind: 'commit' }, blockToken(world, header)),
  signatories: [operator.hash],
  validFrom: 50n,
  validTo: (header.endTime - timeOf(0n)) / 1000n,
})

/** The block that follows the confirmed state; `header` may be another one than the right one. */
export const commitFirst = (world: World, header = firstHeader): TestTransaction =>
  commit(world, rootOutput(world, genesis), rootOutput(world, genesis, header), header)

/** The block that follows a block. */
export const commitSecond = (world: World, header = secondHeader): TestTransaction =>
  commit(world, blockOutput(world, firstHeader), blockOutput(world, firstHeader, header), header)

export const merged: ConfirmedState = {
  headerHash: headerHash(firstHeader),
  prevHeaderHash: firstHeader.prevHeaderHash,
  utxoRoot: firstHeader.utxosRoot,
  startTime: firstHeader.startTime,
  endTime: firstHeader.endTime,
  protocolVersion: firstHeader.protocolVersion,
}

/** In the first slot in which the block is mature. */
export const merge = (world: World): TestTransaction => ({
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    spend(2, rootOutput(world, genesis, firstHeader)),
    spend(3, blockOutput(world, firstHeader, secondHeader)),
  ],
  referenceInputs: [scriptReference(world.queue)],
  outputs: [
    rootOutput(world, merged, secondHeader),
    {
      address: walletAddress(operator.hash),
      lovelace: ada(4),
      datum: encodeRefundDatum(headerHash(firstHeader)),
    },
    wallet(ada(99)),
  ],
  ...minting(world, { kind: 'merge' }, blockToken(world, firstHeader, -1n)),
  signatories: [],
  validFrom: 90n,
})
