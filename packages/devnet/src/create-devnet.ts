import {
  decodeTransaction,
  isDecodeError,
  type SlotConfig,
  slotToTime,
  type Transaction,
  timeToSlot,
  toHex,
} from '@ratatosk/ledger'
import { createEvaluator, type Evaluator } from '@ratatosk/ledger/plutus'
import { credentialKey } from './chain/accounts.js'
import { readAddressText } from './chain/address-text.js'
import { fillBlock, sift } from './chain/block-builder.js'
import { blockHash } from './chain/block-hash.js'
import { createChain } from './chain/chain.js'
import { evaluateTransaction } from './chain/evaluation.js'
import { createMempool } from './chain/mempool.js'
import { createRules, type LedgerView } from './chain/rules.js'
import { createSerial } from './chain/serial.js'
import type { Block, ChainTransaction, Tip } from './chain/types.js'
import { DevnetError } from './errors.js'
import { createFaults } from './faults/faults.js'
import { genesisHash, genesisOutputs } from './genesis/genesis.js'
import { defaultParameters } from './genesis/parameters.js'
import { testGenesis } from './genesis/wallets.js'
import { createMemoryStore } from './store/memory-store.js'
import { restore } from './store/restore.js'
import type { Devnet, DevnetEvent, DevnetOptions, Submission } from './types.js'

/**
 * Opens a devnet: a new chain, or the one that the store keeps.
 *
 * @throws {DevnetError} (rejects) `DEVNET_CONFIGURATION` where options cannot work or the store's chain has another genesis,
 *   `DEVNET_STORE_CORRUPT` where what is kept is damaged
 * @example
 * const devnet = await createDevnet({ blockEveryMs: 0 })
 * const submission = await devnet.submit(cbor)
 * if (submission.kind === 'accepted') await devnet.produceBlock()
 * await devnet.close()
 */
export async function createDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const {
    store = createMemoryStore(),
    parameters = defaultParameters(),
    genesis = testGenesis(),
    clock = Date,
    slotLengthMs = 1000,
    blockEveryMs = 1000,
    maxBlockSize = 90_112,
    securityParameter = 2160,
    onError = (error) => process.emitWarning(error instanceof Error ? error : String(error)),
  } = options
  wholeNumber('slotLengthMs', slotLengthMs, 1)
  wholeNumber('blockEveryMs', blockEveryMs, 0)
  wholeNumber('maxBlockSize', maxBlockSize, parameters.maxTransactionSize)
  wholeNumber('securityParameter', securityParameter, 1)

  const slots: SlotConfig = { zeroTime: BigInt(genesis.startTime), zeroSlot: 0n, slotLength: slotLengthMs }
  const beginning: Tip = { height: 0, slot: 0n, hash: genesisHash(genesis, slotLengthMs) }
  const chain = createChain(beginning, parameters.keyDeposit)
  for (const output of genesisOutputs(genesis)) {
    chain.outputs.add({ ...output, created: { block: beginning, position: 0 }, collateralReturn: false })
    chain.preimages.seeOutput(output.output)
  }
  const confirmed: LedgerView = {
    get: (key) => chain.outputs.unspent(key),
    deposit: (credential) => chain.accounts.deposit(credential),
  }
  const mempool = createMempool(confirmed, parameters.keyDeposit)

  const kept = await store.open(beginning.hash)
  if (kept.genesis !== beginning.hash) {
    const reason =
      'The store keeps a chain that began otherwise: give it the same genesis and slot length, or empty it'
    throw new DevnetError('DEVNET_CONFIGURATION', reason)
  }
  mempool.reset(restore(kept.chain, chain, slots))
  let sequence = kept.chain.transactions.reduce((most, { sequence: number }) => Math.max(most, number), 0)

  const evaluator = openEvaluator(options.evaluator)
  const rules = createRules(parameters, slots, evaluator)
  const serial = createSerial()
  const listeners = new Set<(event: DevnetEvent) => void>()

  function emit(event: DevnetEvent): void {
    for (const listener of [...listeners]) {
      try {
        listener(event)
      } catch (error) {
        // The chain has gone on already: what a listener makes of it is no failure of the devnet.
        onError(error)
      }
    }
  }

  function currentSlot(): bigint {
    const now = timeToSlot(slots, BigInt(Math.floor(clock.now())))
    if (now < chain.tip.slot) return chain.tip.slot
    return now
  }

  async function submit(cbor: Uint8Array): Promise<Submission> {
    const transaction = readTransaction(cbor)
    if (typeof transaction === 'string') return { kind: 'malformed', message: transaction }
    const hash = toHex(transaction.id)
    const failures = await rules.judge(transaction, mempool, currentSlot())
    if (failures.length > 0) return { kind: 'rejected', hash, transaction, failures }
    const accepted: ChainTransaction = { hash, transaction, sequence: sequence + 1 }
    await store.addTransaction({ hash, cbor: transaction.bytes, sequence: accepted.sequence })
    sequence = accepted.sequence
    mempool.add(accepted)
    emit({ type: 'transaction', transaction: accepted })
    return { kind: 'accepted', hash }
  }

  async function produceBlock(): Promise<Block> {
    const { tip } = chain
    const now = currentSlot()
    const slot = now > tip.slot ? now : tip.slot + 1n
    const contents = fillBlock(mempool.transactions(), confirmed, rules, slot, maxBlockSize)
    const { included, waiting, dropped } = contents
    const height = tip.height + 1
    const bytes = included.map(({ transaction }) => transaction.bytes)
    const hash = blockHash(height, slot, tip.hash, bytes)
    // The deepest roll-back ends at the block before those that it undoes.
    const forgotten = height - securityParameter - 1
    await store.addBlock(
      { height, slot, hash, previous: tip.hash, transactions: hashesOf(included) },
      { dropped: hashesOf(dropped), forgotten },
    )
    const block: Block = {
      height,
      slot,
      hash,
      previous: tip.hash,
      time: slotToTime(slots, slot),
      size: bytes.reduce((sum, { length }) => sum + length, 0),
      transactions: included,
    }
    chain.append(block)
    chain.forget(forgotten)
    mempool.reset(waiting)
    emit({ type: 'block', block })
    if (dropped.length > 0) emit({ type: 'dropped', transactions: dropped })
    return block
  }

  async function rollBack(count: number, resubmit: boolean): Promise<Tip> {
    const target = chain.tip.height - count
    if (count > securityParameter || target < 0 || chain.knownBelow(target).height !== target) {
      const reason = `${count} blocks cannot be rolled back: the chain has ${chain.tip.height}, and at most ${securityParameter} can be undone`
      throw new DevnetError('DEVNET_ROLLBACK_TOO_DEEP', reason)
    }
    const undo = () => Array.from({ length: count }, () => chain.undo())
    const blocks = undo()
    const undone = blocks.flatMap(({ transactions }) => transactions)
    const candidates = [...mempool.transactions(), ...(resubmit ? undone : [])]
    candidates.sort((a, b) => a.sequence - b.sequence)
    const { kept: waiting, dropped } = sift(candidates, confirmed, rules, currentSlot())
    const gone = resubmit ? dropped : [...undone, ...dropped]
    // Nobody shall see a roll-back that the store has not heard of.
    for (const block of [...blocks].reverse()) chain.append(block)
    await store.removeBlocks(target, hashesOf(gone))
    undo()
    mempool.reset(waiting)
    emit({ type: 'roll-back', to: chain.tip, blocks })
    if (gone.length > 0) emit({ type: 'dropped', transactions: gone })
    return chain.tip
  }

  function produceWhenDue(): void {
    serial
      .run(async () => {
        if (currentSlot() > chain.tip.slot) await produceBlock()
      })
      .catch(onError)
  }
  const timer = blockEveryMs === 0 ? undefined : setInterval(produceWhenDue, blockEveryMs)

  return {
    parameters,
    slots,
    networkMagic: genesis.networkMagic,
    networkId: 0,
    genesisHash: beginning.hash,
    maxBlockSize,
    securityParameter,
    faults: createFaults(),
    pending: mempool,

    currentSlot,
    tip: () => chain.tip,
    block: (at) => (typeof at === 'number' ? chain.blockAt(at) : chain.blockOf(at)),
    transaction(hash) {
      const waiting = mempool.transaction(hash)
      return waiting === undefined ? chain.transaction(hash) : { transaction: waiting }
    },
    status(hash) {
      if (mempool.has(hash)) return { status: 'pending' }
      const place = chain.transaction(hash)?.place
      if (place === undefined) return { status: 'unknown' }
      return { status: 'confirmed', place, confirmations: chain.tip.height - place.block.height }
    },
    mempool: () => mempool.transactions(),
    utxos({ address, ...criteria } = {}) {
      if (address === undefined) return chain.outputs.find(criteria)
      return chain.outputs.find({ ...criteria, address: toHex(readAddressText(address).bytes) })
    },
    outputs: () => chain.outputs.all(),
    outputsOf: (transactionHash) => chain.outputs.of(transactionHash),
    output: (reference) => chain.outputs.get(reference),
    knowsAddress: (address) => chain.outputs.knowsAddress(toHex(readAddressText(address).bytes)),
    datum: (hash) => chain.preimages.datum(hash),
    script: (hash) => chain.preimages.script(hash),
    stakeDeposit: (credential) => chain.accounts.deposit(credentialKey(credential)),

    // A copy, because what is decoded keeps views of it.
    submit: (cbor) => serial.run(() => submit(Uint8Array.from(cbor))),
    async evaluate(cbor, additional = new Map()) {
      const transaction = readTransaction(Uint8Array.from(cbor))
      if (typeof transaction === 'string') return { kind: 'malformed', message: transaction }
      return evaluateTransaction({ evaluator, parameters, slots, utxos: mempool }, transaction, additional)
    },
    produceBlock: () => serial.run(produceBlock),
    async rollBack(blocks, { resubmit = false } = {}) {
      wholeNumber('blocks', blocks, 0)
      return serial.run(() => rollBack(blocks, resubmit))
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      clearInterval(timer)
      await serial.close()
      listeners.clear()
      await evaluator.close()
    },
  }
}

/** The evaluator given, which its owner closes, or one of the devnet's own. */
function openEvaluator(given: Pick<Evaluator, 'evaluate'> | undefined): Evaluator {
  if (given === undefined) return createEvaluator()
  return { evaluate: (...request) => given.evaluate(...request), close: async () => {} }
}

/** The transaction, or why there is none. */
function readTransaction(cbor: Uint8Array): Transaction | string {
  try {
    return decodeTransaction(cbor)
  } catch (error) {
    if (isDecodeError(error)) return error.message
    throw error
  }
}

function hashesOf(transactions: readonly ChainTransaction[]): string[] {
  return transactions.map(({ hash }) => hash)
}

function wholeNumber(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return
  throw new DevnetError(
    'DEVNET_CONFIGURATION',
    `${name} is ${value}: it must be a whole number from ${least} on`,
  )
}
