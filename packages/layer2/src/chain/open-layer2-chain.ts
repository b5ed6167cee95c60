import {
  type ChainChange,
  type ChainTip,
  type ChainView,
  evaluateTransaction,
  type FieldRule,
  faultOfFields,
  longestTimer,
  oneOf,
  wholeNumber,
  withMethods,
} from '@ratatosk/chain-apis'
import {
  decodeTransactionOutput,
  outputReferenceKey,
  type ProtocolParameters,
  type SlotConfig,
  type Transaction,
  type TransactionOutput,
  type UtxoView,
} from '@ratatosk/ledger'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import type { Turns } from '@ratatosk/ports'
import type { Store } from '@ratatosk/store'
import type { LedgerIndex } from '../ledger-index/index.js'
import { viewBlocks } from './blocks.js'
import { type Finality, finalities, genesisHash, genesisTip, type Head, readBlockHash } from './finality.js'
import { codeOf, indexedReads, type ReadIndex, readReference } from './indexed.js'
import { createSubmissions, readTransaction, type SubmissionsOptions } from './submissions.js'

/** Options of `openLayer2Chain`. All are required. */
export interface Layer2ChainOptions extends SubmissionsOptions {
  /** `openStore` of `@ratatosk/store` opens it. Its owner closes it, as it does the index. */
  readonly store: SubmissionsOptions['store'] &
    Pick<Store, 'blocks' | 'chain'> & { readonly ledger: Pick<Store['ledger'], 'outputs'> }
  /** `openIndex` of `@ratatosk/layer2/ledger-index` opens it. Follows acceptance in the store. */
  readonly index: ReadIndex & Pick<LedgerIndex, 'wake'>
  /**
   * Runs the scripts of transactions that are evaluated. `createEvaluator` of `@ratatosk/ledger/plutus` makes
   * one.
   */
  readonly evaluator: Pick<Evaluator, 'evaluate'>
  /**
   * When they run: clients pay no fee for evaluations. `openTurns` of `@ratatosk/workers` makes them.
   */
  readonly turns: Turns
  /** Those by which layer 2 validates. */
  readonly parameters: ProtocolParameters
  /** The clock of layer 2. */
  readonly slots: SlotConfig
  readonly networkMagic: number
  /** 0 for every test network, 1 for mainnet. */
  readonly networkId: number
  /** Maximum total size of the transactions in a block, in bytes. */
  readonly maxBlockSize: number
  /** Maximum number of blocks that can be undone: the blocks of a maturity window. */
  readonly securityParameter: number
  /** Current time in POSIX milliseconds. */
  readonly now: () => number
}

const isOf =
  (type: string, ...names: readonly string[]) =>
  (value: unknown): boolean =>
    names.every((name) => typeof Object(value)[name] === type)

const rules: Readonly<Record<keyof Layer2ChainOptions, FieldRule>> = {
  store: [isOf('object', 'ledger', 'rejections', 'blocks', 'chain'), 'that of openStore'],
  index: [withMethods('outputs', 'caughtUp', 'progress', 'lagMs', 'wake')[0], 'that of openIndex'],
  queue: withMethods('add'),
  evaluator: withMethods('evaluate'),
  turns: withMethods('take'),
  parameters: [isOf('bigint', 'minFeeA', 'minFeeB'), 'the protocol parameters'],
  slots: [isOf('bigint', 'zeroTime', 'zeroSlot'), '{ zeroTime, zeroSlot, slotLength }'],
  networkMagic: wholeNumber(0),
  networkId: [(value) => value === 0 || value === 1, '0 or 1'],
  maxBlockSize: wholeNumber(1),
  securityParameter: wholeNumber(1),
  maxTransactionSize: wholeNumber(1),
  submitTimeoutMs: wholeNumber(0, longestTimer),
  log: withMethods('warn'),
  now: [(value) => typeof value === 'function', 'a function'],
}

/** @throws {TypeError} names the first option that is wrong, missing or does not exist */
function checkOptions(options: Layer2ChainOptions): void {
  refuse(faultOfFields('openLayer2Chain', 'option', rules, options))
}

/** @throws {TypeError} if there is no such finality */
function checkFinality(finality: Finality): void {
  refuse(faultOfFields('view', 'parameter', { finality: oneOf(...finalities) }, { finality }))
}

function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw new TypeError(fault)
}

/** Layer 2 as the APIs of layer 1 read it. */
export interface Layer2Chain {
  /** The part of the ledger that a finality shows. Throws a `TypeError` for another text. */
  view(finality: Finality): ChainView
  /** Answers `undecided` to every submission that waits for its result, and to later ones. */
  close(): void
}

/**
 * Opens layer 2 for the APIs of layer 1.
 *
 * Layer 2 makes a block only when there is work. The newest block of a view is therefore always an open one
 * in the current slot. It holds the accepted transactions that are in no block yet; in a view of committed
 * or merged blocks it is empty.
 *
 * @throws {TypeError} names the first option that is wrong, missing or does not exist
 */
export function openLayer2Chain(options: Layer2ChainOptions): Layer2Chain {
  checkOptions(options)
  const submissions = createSubmissions(options)
  return {
    view(finality) {
      checkFinality(finality)
      return openView(finality, options, submissions.submit)
    },
    close: () => submissions.close(),
  }
}

function openView(
  finality: Finality,
  options: Layer2ChainOptions,
  submit: ReturnType<typeof createSubmissions>['submit'],
): ChainView {
  const { store, index, evaluator, turns, parameters, slots } = options
  const { blocks, chain } = store
  const { head, placesOf, ledgerAt, closedUntil, openSlot, slotAgo, ...reads } = viewBlocks(finality, {
    blocks,
    chain,
    slots,
    now: options.now,
  })

  /** Each script may use the units of a whole transaction. */
  function costOf({ witnesses }: Transaction): bigint {
    return BigInt(witnesses.redeemers.length) * parameters.maxTransactionExecutionUnits.steps
  }

  async function pendingOutputs(keys: readonly string[]): Promise<UtxoView> {
    const references = keys.flatMap((key) => readReference(key) ?? [])
    const outputs = await store.ledger.outputs(references)
    const found = new Map<string, TransactionOutput>()
    for (const [position, reference] of references.entries()) {
      const output = outputs[position]
      if (output !== undefined) found.set(outputReferenceKey(reference), decodeTransactionOutput(output))
    }
    return found
  }

  return {
    parameters,
    slots,
    networkMagic: options.networkMagic,
    networkId: options.networkId,
    genesisHash,
    maxBlockSize: options.maxBlockSize,
    securityParameter: options.securityParameter,
    ...reads,
    ...indexedReads(finality, index, chain, { head, placesOf, ledgerAt, closedUntil, openSlot, slotAgo }),
    pendingOutputs,
    // No transaction of layer 2 may register a stake credential.
    stakeDeposit: () => undefined,
    registrations: () => [],
    async submit(cbor) {
      const result = await submit(cbor)
      if (result.kind === 'accepted') index.wake()
      return result
    },
    async evaluate(cbor, additional, signal, prefersAdditional) {
      const transaction = readTransaction(Uint8Array.from(cbor))
      if (typeof transaction === 'string') return { kind: 'malformed', message: transaction }
      const { inputs, referenceInputs, collateralInputs } = transaction.body
      const keys = [...inputs, ...referenceInputs, ...collateralInputs].map(outputReferenceKey)
      const utxos = await pendingOutputs([...new Set([...keys, ...additional.keys()])])
      const inTurn: Layer2ChainOptions['evaluator'] = {
        evaluate: (...request) =>
          turns.take(costOf(transaction), signal, () => evaluator.evaluate(...request)),
      }
      try {
        return await evaluateTransaction(
          {
            evaluator: inTurn,
            parameters,
            slots,
            networkId: options.networkId,
            slot: reads.currentSlot(),
            utxos,
          },
          transaction,
          additional,
          prefersAdditional,
        )
      } catch (error) {
        if (signal?.aborted || codeOf(error) === 'WORKERS_EVALUATIONS_BUSY') return { kind: 'busy' }
        throw error
      }
    },
    subscribe: watchChanges({ head, blocks, chain }),
  }
}

interface Watched {
  head(): Promise<Head>
  readonly blocks: Pick<Store['blocks'], 'byHash'>
  readonly chain: Pick<Store['chain'], 'newestSequence'>
}

/** Poll interval in milliseconds. */
const pollMs = 250
/** Number of blocks whose hashes are kept to find out how far a roll-back went. */
const maxSeen = 2_160

/** Emits changes of a view; polls once for all listeners, while there are any. */
function watchChanges({ head, blocks, chain }: Watched): ChainView['subscribe'] {
  const listeners = new Set<(change: ChainChange) => void>()
  let timer: NodeJS.Timeout | undefined
  let polling: Promise<void> | undefined
  /** The newest blocks that listeners may know, oldest first. */
  let seen: ChainTip[] = []
  let newestSequence: bigint | undefined

  function emit(change: ChainChange): void {
    for (const listener of [...listeners]) listener(change)
  }

  async function poll(): Promise<void> {
    const [{ tip, block }, sequence] = await Promise.all([head(), chain.newestSequence()])
    const last = seen.at(-1)
    if (last === undefined) {
      remember(tip)
      // A listener may have read before the first poll.
      emit({ type: 'block' })
    } else if (last.hash !== tip.hash) {
      if (block !== undefined && (await isOnChain(last, tip))) {
        remember(tip)
        emit({ type: 'block' })
      } else {
        await rollBack(tip)
      }
    }
    if (sequence !== newestSequence) {
      newestSequence = sequence
      emit({ type: 'transaction' })
    }
  }

  async function rollBack(tip: ChainTip): Promise<void> {
    while (seen.length > 0) {
      const candidate = seen.at(-1)
      if (candidate !== undefined && (await isOnChain(candidate, tip))) break
      seen.pop()
    }
    const to = seen.at(-1) ?? genesisTip
    emit({ type: 'roll-back', to })
    if (tip.hash === to.hash) return
    remember(tip)
    emit({ type: 'block' })
  }

  /** Whether a block is still on the chain that ends with `tip`. */
  async function isOnChain({ height, hash }: ChainTip, tip: ChainTip): Promise<boolean> {
    if (height === 0) return true
    if (height > tip.height) return false
    const headerHash = readBlockHash(hash)
    const block = headerHash && (await blocks.byHash(headerHash))
    return block !== undefined && block.state !== 'removed' && Number(block.height) === height
  }

  function remember(tip: ChainTip): void {
    seen.push(tip)
    if (seen.length > maxSeen) seen.shift()
  }

  function schedulePoll(): void {
    if (listeners.size === 0) return
    timer = setTimeout(run, pollMs)
    timer.unref()
  }

  function run(): void {
    // A failed poll is repeated; readers of the view meet the same failure and report it.
    polling = poll()
      .catch(() => {})
      .finally(() => {
        polling = undefined
        schedulePoll()
      })
  }

  return (listener) => {
    listeners.add(listener)
    if (listeners.size === 1) {
      seen = []
      newestSequence = undefined
      clearTimeout(timer)
      // At once, so that a roll-back after the listener's first read is noticed.
      if (polling === undefined) run()
    }
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) clearTimeout(timer)
    }
  }
}
