import { setTimeout as delay } from 'node:timers/promises'
import { archivist } from '@ratatosk/archivist'
import {
  type Archive,
  bodyOf,
  deriveBlock,
  encodeBlockBody,
  encodedHeader,
  type FeeTarget,
  feeOutput,
  type Header,
  headerHash,
  partsOf,
} from '@ratatosk/block'
import { concatBytes, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { endOfTurn } from '@ratatosk/contracts'
import { createDevnet, type Devnet, type DevnetOptions, devnetApis, testWallets } from '@ratatosk/devnet'
import { createDevnetLayer1, isLayer1Error, type Layer1, openWallet, type Wallet } from '@ratatosk/layer1'
import { decodeTransaction, encodeOutputReference, slotToTime, timeToSlot } from '@ratatosk/ledger'
import { keysFromSeedPhrase, type TransactionDraft } from '@ratatosk/ledger/builder'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import {
  administratorAddress,
  commitBlock,
  readRegistry,
  readStateQueue,
  referenceScriptsOf,
  type StateQueue,
} from '@ratatosk/protocol'
import { type AccusedBlock, accuse, type FraudRemoval, removeFraudulentBlock } from '@ratatosk/protocol/fraud'
import { until } from '@ratatosk/test-kit/http'
import { createMemoryStore, createTrie, type TrieEntry } from '@ratatosk/trie'
import { fastify } from 'fastify'
import type { Test } from 'tap'
import { loadContext } from '../context.js'
import { readSettings } from '../index.js'
import { contractsOf } from '../layer1/settlement.js'

/** The actions of operators and provers beside a node, on the node's layer 1. */
export async function besideNode(t: Test, devnet: Devnet, environment: Readonly<Record<string, string>>) {
  const { evaluator, port, walletOf } = devnetWallets(t, devnet)
  const context = await loadContext(readSettings({ ...environment, LOG_LEVEL: 'silent' }), {})
  const contracts = contractsOf(context)
  const { scripts, parameters } = contracts
  const slots = await port.slots()
  const readQueue = async () => readStateQueue(contracts, await port.utxosAt(scripts.queue.addressText))
  const readOperators = async () => readRegistry(contracts, await port.utxosByUnit(scripts.registry.unit))!
  const readScripts = async () =>
    referenceScriptsOf(contracts, await port.utxosAt(administratorAddress(contracts)))

  /** Unspent outputs before the first block: output reference CBOR in hex → output CBOR. */
  const genesisOutputs = () =>
    new Map(
      context.genesis!.outputs.map(
        ({ reference, output }) => [toHex(encodeOutputReference(reference)), output] as const,
      ),
    )

  return {
    context,
    contracts,
    genesisOutputs,
    port,
    walletOf,
    readQueue,
    readOperators,
    readScripts,

    /** Commits invalid transactions with matching roots. `merged`: those of the only block before. */
    async commitForged(
      merged: readonly Uint8Array[],
      transactions: readonly Uint8Array[],
    ): Promise<AccusedBlock> {
      const operator = walletOf(1)
      const outputs = genesisOutputs()
      const operatorVkey = operator.keys.payment.hash
      applyBlock(outputs, merged, { prevHeaderHash: new Uint8Array(28), operatorVkey, networkId: 0 })
      const before = trieOf(outputs)
      const outputsBefore = new Map(outputs)
      applyTransactions(outputs, transactions)
      const queue = await readQueue()
      const { state } = queue.roots[0]!.datum
      if (toHex(before.root) !== toHex(state.utxoRoot)) throw new Error('other blocks are confirmed')

      const now = async () => slotToTime(slots, await port.currentSlot())
      const { turnLength } = parameters
      // Half a minute for the commitment to be included, also on a slow machine, or as much of it as half a
      // turn has.
      const life = turnLength < 60_000n ? turnLength / 2n : 30_000n
      const left = async () => endOfTurn(await now(), turnLength) - (await now())
      await until(async () => (await left()) >= life, { what: 'enough of the turn is left' })
      const slot = await port.currentSlot()
      const header = headerAfter(queue, {
        prevUtxosRoot: before.root,
        utxosRoot: trieOf(outputs).root,
        transactionsRoot: trieOfEntries(deriveBlock(transactions, before.valueHash).entries()).root,
        endTime: slotToTime(slots, timeToSlot(slots, slotToTime(slots, slot) + life)),
        operatorVkey,
      })
      const [registry, referenceScripts] = [await readOperators(), await readScripts()]
      const draft = commitBlock(contracts, { queue, registry, header, slot, slots, referenceScripts })
      const forged = await sendBesideNode(operator, draft)
      await port.await(forged.id)
      const outputBefore = (key: Uint8Array) => outputsBefore.get(toHex(key))
      return accuse({ header, transactions: [...transactions], before, outputBefore })
    },

    /** Drafts the removal of a block by the smallest proof of a fraud. */
    async removalOf(block: AccusedBlock): Promise<FraudRemoval | undefined> {
      const { parameters: ofLayer2, network } = context
      const rules = { parameters: ofLayer2, networkId: network.id, slots: network.slots }
      const [queue, registry] = [await readQueue(), await readOperators()]
      const referenceScripts = await readScripts()
      return removeFraudulentBlock(
        contracts,
        { block, rules, queue, registry, referenceScripts },
        { parameters: await port.parameters(), slots, slot: await port.currentSlot(), evaluator },
      )
    },
  }
}

export const withoutWitnesses = (cbor: Uint8Array): Uint8Array =>
  concatBytes(Uint8Array.of(0x84), partsOf(cbor).body, Uint8Array.of(0xa0, 0xf5, 0xf6))

/** The header of a block behind the newest one of a queue. */
export function headerAfter(
  { blocks, roots }: StateQueue,
  own: Omit<Header, 'depositsRoot' | 'withdrawalsRoot' | 'startTime' | 'prevHeaderHash' | 'blockVersion'>,
): Header {
  const last = blocks.at(-1)?.datum.header
  const { state } = roots[0]!.datum
  return {
    ...own,
    depositsRoot: new Uint8Array(32),
    withdrawalsRoot: new Uint8Array(32),
    startTime: last?.endTime ?? state.endTime,
    prevHeaderHash: tailHash({ blocks, roots }),
    blockVersion: state.blockVersion,
  }
}

/** Header hash of the newest block of a queue, or of the confirmed state. */
export function tailHash({ blocks, roots }: Pick<StateQueue, 'blocks' | 'roots'>): Uint8Array {
  const last = blocks.at(-1)?.datum.header
  return last ? headerHash(last) : roots[0]!.datum.state.headerHash
}

/** Applies transactions to outputs: output reference CBOR in hex → output CBOR. */
function applyTransactions(outputs: Map<string, Uint8Array>, transactions: readonly Uint8Array[]): void {
  const { spent, produced } = bodyOf([...transactions])
  for (const key of spent) outputs.delete(toHex(key))
  for (const { outref, output } of produced) outputs.set(toHex(outref), output)
}

/** Applies a block of a deployment with a bridge: its transactions, and the output that pays their fees. */
export function applyBlock(
  outputs: Map<string, Uint8Array>,
  transactions: readonly Uint8Array[],
  target: FeeTarget,
): void {
  applyTransactions(outputs, transactions)
  const fees = feeOutput(
    target,
    transactions.reduce((sum, cbor) => sum + decodeTransaction(cbor).body.fee, 0n),
  )
  if (fees === undefined) return
  outputs.set(toHex(encodeOutputReference({ transactionId: fees.id, index: 0 })), fees.output)
}

/** A trie of outputs by hex key. */
export const trieOf = (outputs: ReadonlyMap<string, Uint8Array>) =>
  trieOfEntries(Array.from(outputs, ([key, output]) => [fromHex(key), output] as const))

function trieOfEntries(entries: Iterable<TrieEntry>) {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  trie.update(Array.from(entries, ([key, value]) => ({ type: 'insert', key, value })))
  return trie
}

/** Sends a transaction from a wallet that the node uses too, and again if the node spent its inputs first. */
async function sendBesideNode(wallet: Wallet, draft: TransactionDraft): Promise<{ readonly id: Uint8Array }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await wallet.send(draft)
    } catch (error) {
      const isSpent = isLayer1Error(error) && error.code === 'LAYER1_REJECTED' && error.mayHaveEffect
      if (!isSpent || attempt === 5) throw error
      await delay(2000)
    }
  }
}

interface KnownBlock {
  readonly header: Header
  readonly transactions: readonly Uint8Array[]
  /** By default 1. */
  readonly height?: bigint
}

/** Serves the body of one block, once it is known, as an archivist. */
export async function serveBody(t: Test) {
  let known: KnownBlock | undefined
  const block = () => {
    if (known === undefined) return undefined
    const { bytes, hash } = encodedHeader(known.header)
    return { headerHash: hash, height: known.height ?? 1n, header: bytes, merged: false }
  }
  const byHash: Archive['byHash'] = async (headerHash) => {
    const found = block()
    return found && equalBytes(found.headerHash, headerHash) ? found : undefined
  }
  const archive: Archive = {
    byHash,
    async byHeight(height) {
      const found = block()
      return found?.height === height ? found : undefined
    },
    range: async () => [],
    async *body() {
      yield encodeBlockBody(bodyOf([...(known?.transactions ?? [])]))
    },
  }
  const server = fastify({ forceCloseConnections: true })
  t.teardown(() => server.close())
  await server.register(archivist, { archive })
  return {
    url: await server.listen({ host: '127.0.0.1', port: 0 }),
    know: (block: KnownBlock | undefined) => {
      known = block
    },
  }
}

/** A layer 1 that the test owns, which nodes reach over HTTP. */
export interface DevnetServer {
  readonly devnet: Devnet
  /** Settings with which a node reaches it. */
  readonly settings: Readonly<Record<string, string>>
}

/** Slots and blocks are short by default, so that tests wait little. */
export async function devnetServer(
  t: Test,
  options: Pick<DevnetOptions, 'blockEveryMs' | 'securityParameter'> = {},
): Promise<DevnetServer> {
  const devnet = await createDevnet({ blockEveryMs: 50, slotLengthMs: 50, ...options })
  t.teardown(() => devnet.close())
  const server = fastify({ forceCloseConnections: true })
  t.teardown(() => server.close())
  await server.register(devnetApis, { devnet, paths: { kupo: false, ogmios: false } })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    devnet,
    settings: { LAYER1_PROVIDER: 'blockfrost', BLOCKFROST_URL: `${url}/blockfrost/api/v0` },
  }
}

/** Opens test wallets on a devnet by the number of their account, beside any node. */
export function devnetWallets(t: Test, devnet: Devnet) {
  const evaluator = createEvaluator()
  t.teardown(() => evaluator.close())
  const port: Layer1 = createDevnetLayer1(devnet)
  const walletOf = (account: number): Wallet => {
    const keys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account })
    return openWallet({ layer1: port, keys, evaluator })
  }
  return { evaluator, port, walletOf }
}
