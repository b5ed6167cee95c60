import { isDecodeError, toHex } from '@ratatosk/cbor'
import { evaluateTransaction, faultOfNames, readAddressText } from '@ratatosk/chain-apis'
import {
  decodeLayer1Transaction,
  type SlotConfig,
  slotToTime,
  type Transaction,
  timeToSlot,
} from '@ratatosk/ledger'
import { createEvaluator, type Evaluator } from '@ratatosk/ledger/plutus'
import { Mutex } from 'async-mutex'
import { credentialKey } from './chain/accounts.js'
import { createChain } from './chain/chain.js'
import { blockHash, createMempool, fillBlock, revalidateAll } from './chain/mempool.js'
import { createRules, type LedgerView } from './chain/rules.js'
import type {
  ChainEvent,
  ChainTip,
  DevnetBlock,
  DevnetSubmitResult,
  DevnetTransaction,
} from './chain/types.js'
import { DevnetError, refuse } from './errors.js'
import { createFaults } from './faults.js'
import { genesisHash, genesisOutputs, testGenesis } from './genesis.js'
import { openStored, restore } from './store/open-stored.js'
import { createMemoryStore } from './store/store.js'
import type { Devnet, DevnetOptions } from './types.js'

/** The place of a block in its slot, 0 to 1, after the sequencer's transactions near the slot's start. */
const placeInSlot = 0.6

/**
 * Opens a devnet: the chain in the store, or a new one if the store is empty.
 *
 * @throws {DevnetError} (rejects) `DEVNET_CONFIGURATION` if an option is invalid or does not exist, or the
 *   stored chain has a different genesis or ledger version, `DEVNET_STORE_CORRUPT` if the stored chain is
 *   damaged
 * @example
 * ```ts
 * const devnet = await createDevnet({ blockEveryMs: 0 })
 * const result = await devnet.submit(cbor)
 * if (result.kind === 'accepted') await devnet.produceBlock()
 * await devnet.close()
 * ```
 */
export async function createDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const settings = settingsOf(options)
  const { genesis, clock, slotLengthMs, blockEveryMs, onError } = settings
  const listeners = new Set<(event: ChainEvent) => void>()
  function emit(event: ChainEvent): void {
    for (const listener of [...listeners]) {
      try {
        listener(event)
      } catch (error) {
        // The change is already made: an error in a listener must not fail it.
        onError(error)
      }
    }
  }
  const ledger = await openLedger({ ...settings, emit })
  const { chain, evaluator } = ledger
  const mutex = new Mutex()
  let closed = false

  /** Runs changes one at a time, in the order of the calls. */
  async function exclusively<T>(change: () => Promise<T>): Promise<T> {
    if (closed) throw new DevnetError('DEVNET_CLOSED', 'The devnet is closed')
    return mutex.runExclusive(change)
  }

  async function produceDueBlock(): Promise<void> {
    if (currentSlot(ledger) > chain.tip.slot) await produceBlock(ledger)
  }
  const from = genesis.startTime + placeInSlot * slotLengthMs
  const schedule = { everyMs: blockEveryMs, from, now: () => clock.now() }
  const produce = () => void exclusively(produceDueBlock).catch(onError)
  const endSchedule = blockEveryMs === 0 ? undefined : runOnSchedule(schedule, produce)

  return {
    ...readsOf(ledger),
    networkMagic: genesis.networkMagic,
    networkId: 0,
    genesisHash: ledger.origin.hash,
    faults: createFaults(),

    async submit(cbor) {
      // A decoded transaction keeps views of its bytes, and the caller may reuse the buffer.
      const copy = Uint8Array.from(cbor)
      return exclusively(() => submit(ledger, copy))
    },
    produceBlock: () => exclusively(() => produceBlock(ledger)),
    async rollBack(blocks, { resubmit = false } = {}) {
      requireWholeNumber('blocks', blocks, 0)
      return exclusively(() => rollBack(ledger, blocks, resubmit))
    },
    rollBackTo: (transaction, { resubmit = false } = {}) =>
      exclusively(async () => {
        const block = chain.transaction(transaction)?.place.block
        if (block === undefined)
          throw new DevnetError('DEVNET_NOT_IN_A_BLOCK', `Transaction ${transaction} is in no block`)
        return rollBack(ledger, chain.tip.height - block.height + 1, resubmit)
      }),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      endSchedule?.()
      closed = true
      await mutex.runExclusive(() => {})
      listeners.clear()
      await evaluator.close()
    },
  }
}

/** The options, checked, and with defaults. */
function settingsOf(options: DevnetOptions) {
  const settings = {
    store: options.store ?? createMemoryStore(),
    parameters: options.parameters,
    genesis: options.genesis ?? testGenesis(),
    clock: options.clock ?? Date,
    slotLengthMs: options.slotLengthMs ?? 1000,
    blockEveryMs: options.blockEveryMs ?? 1000,
    maxBlockSize: options.maxBlockSize ?? 90_112,
    securityParameter: options.securityParameter ?? 2160,
    evaluator: options.evaluator,
    onError:
      options.onError ??
      ((error: unknown) => process.emitWarning(error instanceof Error ? error : String(error))),
  } satisfies Record<keyof DevnetOptions, unknown>
  refuse(faultOfNames('createDevnet', 'option', Object.keys(settings), options))
  requireWholeNumber('slotLengthMs', settings.slotLengthMs, 1)
  requireWholeNumber('blockEveryMs', settings.blockEveryMs, 0)
  requireWholeNumber('securityParameter', settings.securityParameter, 1)
  return settings
}

interface Settings extends ReturnType<typeof settingsOf> {
  readonly emit: (event: ChainEvent) => void
}

/** The chain and its mempool, and what their reads and changes need. */
type Ledger = Awaited<ReturnType<typeof openLedger>>

async function openLedger(settings: Settings) {
  const { store, genesis, slotLengthMs, maxBlockSize } = settings
  const slots: SlotConfig = { zeroTime: BigInt(genesis.startTime), zeroSlot: 0n, slotLength: slotLengthMs }
  const origin: ChainTip = { height: 0, slot: 0n, hash: genesisHash(genesis, slotLengthMs) }
  const outputs = genesisOutputs(genesis)
  const { chain: stored, parameters } = await openStored(store, origin.hash, settings.parameters)
  requireWholeNumber('maxBlockSize', maxBlockSize, parameters.maxTransactionSize)
  const chain = createChain(origin, parameters.keyDeposit)
  for (const output of outputs) {
    chain.outputs.add({ ...output, created: { block: origin, position: 0 }, collateralReturn: false })
    chain.preimages.addOutput(output.output)
  }
  const confirmed: LedgerView = { get: chain.outputs.unspent, deposit: chain.accounts.deposit }
  const mempool = createMempool(confirmed, parameters.keyDeposit)
  mempool.reset(restore(stored, chain, slots))
  const evaluator = openEvaluator(settings.evaluator)
  const rules = createRules(parameters, slots, evaluator)
  const sequence = stored.transactions.reduce((most, each) => Math.max(most, each.sequence), 0)
  return { ...settings, parameters, evaluator, slots, origin, chain, confirmed, mempool, rules, sequence }
}

function currentSlot({ slots, clock, chain }: Ledger): bigint {
  const now = timeToSlot(slots, BigInt(Math.floor(clock.now())))
  if (now < chain.tip.slot) return chain.tip.slot
  return now
}

function readsOf(ledger: Ledger) {
  const { parameters, slots, maxBlockSize, securityParameter, chain, mempool, evaluator } = ledger
  const { outputs, preimages } = chain
  return {
    parameters,
    slots,
    maxBlockSize,
    securityParameter,
    pendingUtxos: mempool,

    currentSlot: () => currentSlot(ledger),
    tip: () => chain.tip,
    block: chain.block,
    transaction(hash) {
      const pending = mempool.transaction(hash)
      return pending === undefined ? chain.transaction(hash) : { transaction: pending }
    },
    status(hash) {
      if (mempool.has(hash)) return { status: 'pending' }
      const place = chain.transaction(hash)?.place
      if (place === undefined) return { status: 'unknown' }
      return { status: 'confirmed', place, confirmations: chain.tip.height - place.block.height }
    },
    mempool: mempool.transactions,
    utxos({ address, ...query } = {}) {
      if (address === undefined) return outputs.find(query)
      return outputs.find({ ...query, address: toHex(readAddressText(address).bytes) })
    },
    outputs: outputs.all,
    outputsOf: outputs.of,
    output: outputs.get,
    labelled: chain.labelled,
    labels: chain.labels,
    knowsAddress: (address) => outputs.knowsAddress(toHex(readAddressText(address).bytes)),
    datum: preimages.datum,
    script: preimages.script,
    scripts: preimages.scripts,
    stakeDeposit: (credential) => chain.accounts.deposit(credentialKey(credential)),
    async evaluate(cbor, additional = new Map(), prefersAdditional = false) {
      const transaction = readTransaction(Uint8Array.from(cbor))
      if (typeof transaction === 'string') return { kind: 'malformed', message: transaction }
      return evaluateTransaction(
        { evaluator, parameters, slots, networkId: 0, slot: currentSlot(ledger), utxos: mempool },
        transaction,
        additional,
        prefersAdditional,
      )
    },
  } satisfies Partial<Devnet>
}

async function submit(ledger: Ledger, cbor: Uint8Array): Promise<DevnetSubmitResult> {
  const { store, mempool, rules } = ledger
  const transaction = readTransaction(cbor)
  if (typeof transaction === 'string') return { kind: 'malformed', message: transaction }
  const hash = toHex(transaction.id)
  const failures = await rules.validate(transaction, mempool, currentSlot(ledger))
  if (failures.length > 0) return { kind: 'rejected', hash, transaction, failures }
  const accepted: DevnetTransaction = { hash, transaction, sequence: ledger.sequence + 1 }
  await store.addTransaction({ hash, cbor: transaction.bytes, sequence: accepted.sequence })
  ledger.sequence = accepted.sequence
  mempool.add(accepted)
  ledger.emit({ type: 'transaction', transaction: accepted })
  return { kind: 'accepted', hash }
}

async function produceBlock(ledger: Ledger): Promise<DevnetBlock> {
  const { store, slots, chain, confirmed, mempool, rules, emit } = ledger
  const { tip } = chain
  const now = currentSlot(ledger)
  const slot = now > tip.slot ? now : tip.slot + 1n
  const contents = fillBlock(mempool.transactions(), confirmed, rules, slot, ledger.maxBlockSize)
  const { included, remaining, dropped } = contents
  const height = tip.height + 1
  const bytes = included.map(({ transaction }) => transaction.bytes)
  const hash = blockHash(height, slot, tip.hash, bytes)
  // The deepest roll-back needs the block before the ones it undoes.
  const prunable = height - ledger.securityParameter - 1
  await store.addBlock(
    { height, slot, hash, previous: tip.hash, transactions: hashesOf(included) },
    { dropped: hashesOf(dropped), prunable },
  )
  const block: DevnetBlock = {
    height,
    slot,
    hash,
    previous: tip.hash,
    time: slotToTime(slots, slot),
    size: bytes.reduce((sum, { length }) => sum + length, 0),
    transactions: included,
  }
  chain.append(block)
  chain.prune(prunable)
  mempool.reset(remaining)
  emit({ type: 'block', block })
  if (dropped.length > 0) emit({ type: 'dropped', transactions: dropped })
  return block
}

async function rollBack(ledger: Ledger, count: number, resubmit: boolean): Promise<ChainTip> {
  const { store, securityParameter, chain, confirmed, mempool, rules, emit } = ledger
  const target = chain.tip.height - count
  if (count > securityParameter || target < 0 || chain.nearest(target).height !== target) {
    throw new DevnetError(
      'DEVNET_ROLLBACK_TOO_DEEP',
      `Cannot roll back ${count} blocks: it has ${chain.tip.height}, the limit is ${securityParameter}`,
    )
  }
  const undo = () => Array.from({ length: count }, () => chain.undo())
  const blocks = undo()
  const undone = blocks.flatMap(({ transactions }) => transactions)
  const candidates = [...mempool.transactions(), ...(resubmit ? undone : [])]
  candidates.sort((a, b) => a.sequence - b.sequence)
  const { kept, dropped } = revalidateAll(candidates, confirmed, rules, currentSlot(ledger))
  const lost = resubmit ? dropped : [...undone, ...dropped]
  // Restore the blocks while the store is written: no reader may see a roll-back that could still fail.
  for (const block of [...blocks].reverse()) chain.append(block)
  await store.removeBlocks(target, hashesOf(lost))
  undo()
  mempool.reset(kept)
  emit({ type: 'roll-back', to: chain.tip, blocks })
  if (lost.length > 0) emit({ type: 'dropped', transactions: lost })
  return chain.tip
}

/** The given evaluator, which its owner closes, or a new one. */
function openEvaluator(given: Pick<Evaluator, 'evaluate'> | undefined): Evaluator {
  if (given === undefined) return createEvaluator()
  return { evaluate: (...request) => given.evaluate(...request), close: async () => {} }
}

/** The transaction, or the reason why the bytes do not decode. */
function readTransaction(cbor: Uint8Array): Transaction | string {
  try {
    return decodeLayer1Transaction(cbor)
  } catch (error) {
    if (isDecodeError(error)) return error.message
    throw error
  }
}

function hashesOf(transactions: readonly DevnetTransaction[]): string[] {
  return transactions.map(({ hash }) => hash)
}

function requireWholeNumber(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return
  refuse(`${name} must be a whole number of at least ${least}, not ${value}`)
}

/** When something happens again and again. */
interface Schedule {
  /** Milliseconds between two times, from 1. */
  readonly everyMs: number
  /** One of the times, in POSIX milliseconds. */
  readonly from: number
  /** The present time in POSIX milliseconds. */
  now(): number
}

/**
 * Calls `run` at the times of a schedule, until the returned function ends it. An interval of Node.js falls
 * behind by a millisecond or two each time: blocks would drift and miss slots.
 */
export function runOnSchedule({ everyMs, from, now }: Schedule, run: () => void): () => void {
  let timer: NodeJS.Timeout
  function wait(): void {
    const since = (now() - from) % everyMs
    timer = setTimeout(
      () => {
        run()
        wait()
      },
      everyMs - ((since + everyMs) % everyMs),
    )
  }
  wait()
  return () => clearTimeout(timer)
}
