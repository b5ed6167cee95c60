import { genesisHeaderHash, type Header, headerHash } from '@ratatosk/contracts'
import { createDevnet, testWallets } from '@ratatosk/devnet'
import { CborWriter, slotToTime, toHex } from '@ratatosk/ledger'
import { keysFromSeedPhrase } from '../keys/seed-phrase.js'
import { openContracts } from '../protocol/contracts.js'
import { commitBlock, initQueue } from '../protocol/queue-drafts.js'
import { initRegistry, readRegistry, registerOperator } from '../protocol/registry-drafts.js'
import { readStateQueue } from '../protocol/state-queue.js'
import { createDevnetLayer1 } from '../providers/devnet/create-devnet-layer1.js'
import type { TransactionDraft } from '../transaction/types.js'
import type { Utxo } from '../types.js'
import { openWallet } from '../wallet/open-wallet.js'
import { evaluator, keys, limits } from './devnet-harness.js'

const START = 1_700_000_000_000
export const operator = keys.payment.hash
export const otherKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 1 })
export const turnLength = 60_000n

export const contracts = openContracts(
  {
    protocol: 'RATATOSK',
    administrator: operator,
    maturityWindow: 30_000n,
    turnLength,
    bond: 500_000_000n,
    releaseDelay: 90_000n,
    maxOperators: 10n,
  },
  0,
)

export type Scene = Awaited<ReturnType<typeof openScene>>

/** A devnet with the wallets of two operators, the first of whom is the administrator. */
export async function openScene() {
  const clock = { time: START + 1_000_000, now: () => clock.time }
  const utxos = [keys, keys, keys, otherKeys].map(({ address }, index) => ({
    outref: `${'11'.repeat(32)}#${index}`,
    output: toHex(
      new CborWriter().map(2).uint(0).bytes(address.bytes).uint(1).uint(10_000_000_000n).toBytes(),
    ),
  }))
  const genesis = { startTime: START, networkMagic: 42, utxos }
  const devnet = await createDevnet({ blockEveryMs: 0, clock, evaluator, genesis })
  const layer1 = createDevnetLayer1(devnet, limits)
  const wallet = openWallet({ layer1, keys, evaluator })
  const otherWallet = openWallet({ layer1, keys: otherKeys, evaluator })
  return {
    clock,
    devnet,
    layer1,
    wallet,
    otherWallet,
    slots: devnet.slots,
    /** Sends, and makes a block. */
    async run(draft: TransactionDraft, by = wallet) {
      const built = await by.send(draft)
      clock.time += 1000
      await devnet.produceBlock()
      await layer1.await(built.id)
      return built
    },
    queue: async () => readStateQueue(contracts, await layer1.utxosAt(contracts.queue.addressText)),
    async registry() {
      const found = readRegistry(contracts, await layer1.utxosByUnit(contracts.registry.unit))
      if (found === undefined) throw new Error('there is no registry')
      return found
    },
    /** To the beginning of a turn: the whole validity of a commit lies in one. */
    nextTurn() {
      clock.time = (Math.floor(clock.time / Number(turnLength)) + 1) * Number(turnLength)
    },
  }
}

export const root = (byte: number) => new Uint8Array(32).fill(byte)

export const stateAt = (endTime: bigint) => ({
  headerHash: genesisHeaderHash(),
  prevHeaderHash: genesisHeaderHash(),
  utxoRoot: root(1),
  startTime: endTime,
  endTime,
  protocolVersion: 1n,
})

/** A registry with one operator, and a queue. */
export async function begin({ run, registry, devnet, slots }: Scene, library: readonly Utxo[] = []) {
  await run(initRegistry(contracts, library))
  await run(registerOperator(contracts, await registry(), operator, library))
  await run(initQueue(contracts, stateAt(slotToTime(slots, devnet.currentSlot())), library))
}

/** A block after the last one, ending twenty seconds from now. */
export async function nextHeader({ queue, devnet, slots }: Scene): Promise<Header> {
  const { roots, blocks } = await queue()
  const last = blocks.at(-1)
  const state = roots[0]!.datum.state
  return {
    prevUtxosRoot: last?.datum.header.utxosRoot ?? state.utxoRoot,
    utxosRoot: root(10 + blocks.length),
    transactionsRoot: root(0),
    depositsRoot: root(0),
    withdrawalsRoot: root(0),
    startTime: last?.datum.header.endTime ?? state.endTime,
    endTime: slotToTime(slots, devnet.currentSlot() + 20n),
    prevHeaderHash: last ? headerHash(last.datum.header) : state.headerHash,
    operatorVkey: operator,
    protocolVersion: 1n,
  }
}

/** Commits the next block at the beginning of a turn. */
export async function commit(scene: Scene, library: readonly Utxo[] = []) {
  scene.nextTurn()
  const header = await nextHeader(scene)
  const { slots, devnet } = scene
  const [queue, registry] = [await scene.queue(), await scene.registry()]
  const slot = devnet.currentSlot()
  const built = await scene.run(commitBlock(contracts, { queue, registry, header, slot, slots, library }))
  return { built, header, headerHash: toHex(headerHash(header)) }
}
