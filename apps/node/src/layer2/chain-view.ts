import { setImmediate as nextIteration } from 'node:timers/promises'
import { fromHex, toHex } from '@ratatosk/cbor'
import {
  type ChainBlock,
  type ChainOutput,
  type ChainTransaction,
  ChainUnavailableError,
  type ChainView,
  evaluateTransaction,
  type ListPart,
  type OutputQuery,
  type Place,
  type Tip,
} from '@ratatosk/chain-apis'
import {
  decodeTransaction,
  decodeTransactionOutput,
  type OutputReference,
  outputReferenceKey,
  type ProtocolParameters,
  type SlotConfig,
  slotToTime,
  splitUnit,
  type TransactionOutput,
  timeToSlot,
  type UtxoView,
} from '@ratatosk/ledger'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import type {
  At,
  IndexedOutput,
  OutputQuery as IndexQuery,
  LedgerIndex,
  OutputPart,
} from '@ratatosk/ledger-index'
import type { OrderedTransaction, SequencePart, Store, ChainBlock as StoredBlock } from '@ratatosk/store'
import { watchChanges } from './changes.js'
import { type Finality, genesisHash, genesisTip, type Head, openHash, readHead, tipOf } from './finality.js'
import { readTransaction, type Submissions } from './submissions.js'

/** What a view of layer 2 is made of. */
export interface Layer2Parts {
  readonly store: Pick<Store, 'chain'> & { readonly ledger: Pick<Store['ledger'], 'outputs'> }
  readonly index: Omit<LedgerIndex, 'rebuild' | 'close'>
  readonly submissions: Submissions
  /** Runs scripts whose budgets are not known yet. */
  readonly evaluator: Pick<Evaluator, 'evaluate'>
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  readonly networkMagic: number
  readonly networkId: number
  readonly maxBlockSize: number
  /** The most blocks that can be undone: those of a maturity window. */
  readonly securityParameter: number
  /** POSIX milliseconds. */
  readonly now: () => number
}

/** Outputs of a page. Few, because an answer that waits for its client keeps a page in memory. */
const pageRows = 128
/** The most transactions of the open block that are counted. */
const maxCounted = 100_000
const hash28 = /^[0-9a-f]{56}$/
const hash32 = /^[0-9a-f]{64}$/

/**
 * Layer 2 as the APIs of layer 1 see it.
 *
 * Layer 2 makes a block only when there is work. The newest block of a view is therefore always an open one
 * with the current slot: it holds what is accepted and in no block yet, or nothing where the view shows
 * committed or merged blocks only.
 */
export function layer2View(finality: Finality, parts: Layer2Parts): ChainView {
  const { store, index, submissions, evaluator, parameters, slots, now } = parts
  const { chain } = store
  const head = () => readHead(chain, finality, slots)
  const currentSlot = () => timeToSlot(slots, BigInt(Math.floor(now())))

  async function caughtUp(sequence?: bigint): Promise<void> {
    try {
      await index.caughtUp(sequence)
    } catch (error) {
      if (codeOf(error) !== 'INDEX_BEHIND') throw error
      throw new ChainUnavailableError(
        'The index has not followed the ledger yet. Try again in a few seconds.',
      )
    }
  }

  /** The ledger of the view in the index, which then has everything that the view shows. */
  async function stateOf(): Promise<{ readonly head: Head; readonly at: At }> {
    const newest = await head()
    if (finality === 'accepted') {
      await caughtUp()
      return { head: newest, at: {} }
    }
    const sequence = newest.lastSequence
    // 0 is genesis, of which the index knows only whether it has all.
    await caughtUp(sequence === 0n ? undefined : sequence)
    return { head: newest, at: { sequence } }
  }

  function openTip({ tip }: Head): Tip {
    let slot = currentSlot()
    // The clock may be behind that of the sequencer.
    if (slot < tip.slot) slot = tip.slot
    return { height: tip.height + 1, slot, hash: openHash(tip.hash) }
  }

  async function openBlock(newest: Head): Promise<ChainBlock> {
    const tip = openTip(newest)
    const { transactions, bytes } =
      finality === 'accepted'
        ? await chain.countAfter(newest.lastSequence, maxCounted)
        : { transactions: 0, bytes: 0 }
    return {
      ...tip,
      previous: newest.tip.hash,
      time: slotToTime(slots, tip.slot),
      size: bytes,
      transactionCount: transactions,
      open: true,
    }
  }

  async function closedBlock(block: StoredBlock | undefined, newest: Head): Promise<ChainBlock | undefined> {
    if (block === undefined || Number(block.height) > newest.tip.height) return undefined
    const tip = tipOf(block, slots)
    return {
      ...tip,
      previous: toHex(block.previousHeaderHash),
      time: slotToTime(slots, tip.slot),
      size: await chain.sizeOf(block.headerHash),
      transactionCount: block.transactions,
    }
  }

  async function blockAt(at: number | string): Promise<ChainBlock | undefined> {
    const newest = await head()
    if (typeof at === 'number') {
      if (at === newest.tip.height + 1) return openBlock(newest)
      if (at < 1 || at > newest.tip.height) return undefined
      return closedBlock(await chain.byHeight(BigInt(at)), newest)
    }
    if (!hash28.test(at)) return undefined
    if (at === openHash(newest.tip.hash)) return openBlock(newest)
    // Whoever was told of the open block still finds it after it was closed.
    const { block } = newest
    if (block !== undefined && at === openHash(toHex(block.previousHeaderHash)))
      return closedBlock(block, newest)
    return closedBlock(await chain.byHash(fromHex(at)), newest)
  }

  /** The places of transactions, by accept sequence. Those in no block of the view are in the open one. */
  async function placesOf(sequences: Iterable<bigint>, newest: Head): Promise<(sequence: bigint) => Place> {
    const wanted = [...new Set(sequences)].filter((sequence) => sequence > 0n)
    const found = await chain.places(wanted)
    const open = openTip(newest)
    return (sequence) => {
      if (sequence <= 0n) return { block: genesisTip, position: 0 }
      const place = found.get(sequence)
      if (place !== undefined) return { block: tipOf(place.block, slots), position: place.position }
      // Sequences have gaps, so this is the order in the block rather than the index.
      return { block: open, position: Math.max(0, Number(sequence - newest.lastSequence - 1n)) }
    }
  }

  /** The state of the view now, which later answers can show too. */
  async function snapshot(): Promise<{ readonly head: Head; readonly at: At }> {
    // Before the head: what leaves the mempool meanwhile is in the head's block.
    const pending = await chain.newestSequence()
    const state = await stateOf()
    if (finality !== 'accepted') return state
    return { ...state, at: { sequence: pending ?? state.head.lastSequence } }
  }

  async function readOutputs(
    query: IndexQuery,
    part: OutputPart,
    { head: newest, at }: { readonly head: Head; readonly at: At },
  ): Promise<{ readonly outputs: ChainOutput[]; readonly last: IndexedOutput | undefined }> {
    const found = await index.outputs(query, part, at)
    const placeOf = await placesOf(
      found.flatMap(({ sequence, spent }) => (spent === undefined ? [sequence] : [sequence, spent.sequence])),
      newest,
    )
    const outputs = found.map(
      ({ transactionId, index, sequence, output, collateralReturn, spent }): ChainOutput => {
        const transactionHash = toHex(transactionId)
        return {
          key: `${transactionHash}#${index}`,
          transactionHash,
          index,
          output: decodeTransactionOutput(output),
          created: placeOf(sequence),
          collateralReturn,
          ...(spent !== undefined && {
            spent: {
              ...placeOf(spent.sequence),
              transactionHash: toHex(spent.id),
              by: spent.valid ? 'inputs' : 'collateral',
            },
          }),
        }
      },
    )
    return { outputs, last: found.at(-1) }
  }

  /** Pages of one state; other requests are served between two of them. */
  async function* readPages(query: IndexQuery, order: NonNullable<ListPart['order']>) {
    const state = await snapshot()
    let after: IndexedOutput | undefined
    for (;;) {
      const part = { offset: 0, limit: pageRows, order, ...(after && { after }) }
      const { outputs, last } = await readOutputs(query, part, state)
      if (outputs.length > 0) yield outputs
      if (outputs.length < pageRows) return
      after = last
      await nextIteration()
    }
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
    networkMagic: parts.networkMagic,
    networkId: parts.networkId,
    genesisHash,
    maxBlockSize: parts.maxBlockSize,
    securityParameter: parts.securityParameter,

    currentSlot,
    tip: async () => openTip(await head()),
    block: blockAt,
    blockAfter: (height) => blockAt(height + 1),
    async blockTransactions(hash, part) {
      const newest = await head()
      if (hash === openHash(newest.tip.hash)) {
        if (finality !== 'accepted') return []
        return (await chain.acceptedAfter(newest.lastSequence, sequencePart(part))).map(toChainTransaction)
      }
      const block = await blockAt(hash)
      if (block === undefined || block.open) return []
      const transactions = await chain.transactionsOf(fromHex(block.hash), sequencePart(part))
      return transactions.map(toChainTransaction)
    },
    async transaction(hash) {
      if (!hash32.test(hash)) return undefined
      // The head first: what the head's block holds is then never taken for unplaced.
      const newest = await head()
      const found = await chain.transaction(fromHex(hash))
      if (found === undefined) return undefined
      const transaction = toChainTransaction(found)
      if (finality !== 'accepted' && found.sequence > newest.lastSequence) return { transaction }
      const { place } = found
      if (place !== undefined) {
        return { transaction, place: { block: tipOf(place.block, slots), position: place.position } }
      }
      // A block that has left the chain since the head was read.
      if (finality !== 'accepted') return { transaction }
      const placeOf = await placesOf([found.sequence], newest)
      return { transaction, place: placeOf(found.sequence) }
    },
    async mempool(part) {
      if (finality === 'accepted') return []
      const { lastSequence } = await head()
      return (await chain.acceptedAfter(lastSequence, sequencePart(part))).map(toChainTransaction)
    },
    async outputs(query, part) {
      const wanted = indexQuery(query)
      return wanted === undefined ? [] : (await readOutputs(wanted, part, await stateOf())).outputs
    },
    async *outputPages(query, order) {
      const wanted = indexQuery(query)
      if (wanted !== undefined) yield* readPages(wanted, order)
    },
    async history(address, part) {
      const { head: newest, at } = await stateOf()
      const found = await index.history(fromHex(address), part, at)
      const placeOf = await placesOf(
        found.map(({ sequence }) => sequence),
        newest,
      )
      return found.map(({ id, sequence }) => ({ hash: toHex(id), place: placeOf(sequence) }))
    },
    async assets(policy, part) {
      const { at } = await stateOf()
      const found = await index.assets(fromHex(policy), part, at)
      return found.map(({ name, quantity }) => ({ unit: policy + toHex(name), quantity }))
    },
    async asset(unit) {
      const { at } = await stateOf()
      const { policy, assetName } = assetOf(unit)
      const found = await index.asset(policy, assetName, at)
      return found && { ...found, first: toHex(found.first), last: toHex(found.last) }
    },
    async knowsAddress(address) {
      const { at } = await stateOf()
      return index.knowsAddress(fromHex(address), at)
    },
    pendingOutputs,
    async datum(hash) {
      if (!hash32.test(hash)) return undefined
      await caughtUp()
      return index.datum(fromHex(hash))
    },
    async script(hash) {
      if (!hash28.test(hash)) return undefined
      await caughtUp()
      return index.script(fromHex(hash))
    },
    // No transaction of layer 2 may register a stake credential.
    stakeDeposit: () => undefined,

    async submit(cbor) {
      const result = await submissions.submit(cbor)
      if (result.kind === 'accepted') index.wake()
      return result
    },
    async evaluate(cbor, additional) {
      const transaction = readTransaction(Uint8Array.from(cbor))
      if (typeof transaction === 'string') return { kind: 'malformed', message: transaction }
      const { inputs, referenceInputs, collateralInputs } = transaction.body
      const keys = [...inputs, ...referenceInputs, ...collateralInputs].map(outputReferenceKey)
      const utxos = await pendingOutputs([...new Set([...keys, ...additional.keys()])])
      try {
        return await evaluateTransaction({ evaluator, parameters, slots, utxos }, transaction, additional)
      } catch (error) {
        if (codeOf(error) === 'EVALUATOR_BUSY') return { kind: 'busy' }
        throw error
      }
    },
    subscribe: watchChanges({ head, chain, slots }),
  }
}

function toChainTransaction({ id, cbor }: OrderedTransaction): ChainTransaction {
  return { hash: toHex(id), transaction: decodeTransaction(cbor) }
}

/** The store's limits are PostgreSQL's `bigint`. */
function sequencePart({ offset, limit, order }: ListPart): SequencePart {
  return {
    offset,
    limit: Math.min(limit, Number.MAX_SAFE_INTEGER),
    newestFirst: order === 'newest-first',
  }
}

/** The query as the index takes it; undefined if no output can match. */
function indexQuery(query: OutputQuery): IndexQuery | undefined {
  const { address, paymentCredential, stakeCredential, policy, unit, references, transaction, spent } = query
  const wanted = references?.flatMap((key) => readReference(key) ?? [])
  if (wanted?.length === 0) return undefined
  if (transaction !== undefined && !hash32.test(transaction)) return undefined
  if (unit !== undefined && !/^[0-9a-f]{56}([0-9a-f]{2}){0,32}$/.test(unit)) return undefined
  if (unit !== undefined && policy !== undefined && !unit.startsWith(policy)) return undefined
  return {
    ...(address !== undefined && { address: fromHex(address) }),
    ...(paymentCredential !== undefined && { paymentCredential: fromHex(paymentCredential) }),
    ...(stakeCredential !== undefined && { stakeCredential: fromHex(stakeCredential) }),
    ...(policy !== undefined && { policy: fromHex(policy) }),
    ...(unit !== undefined && assetOf(unit)),
    ...(wanted !== undefined && { references: wanted }),
    ...(transaction !== undefined && { transaction: fromHex(transaction) }),
    ...(spent !== undefined && { spent }),
  }
}

/** Undefined if the text is no output reference. */
function readReference(key: string): OutputReference | undefined {
  const [, id, index] = /^([0-9a-f]{64})#(\d{1,5})$/.exec(key) ?? []
  if (id === undefined || Number(index) > 0xffff) return undefined
  return { transactionId: fromHex(id), index: Number(index) }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** An asset as the index names it. @param unit policy id and asset name in hex */
function assetOf(unit: string) {
  const { policy, name } = splitUnit(unit)
  return { policy: fromHex(policy), assetName: fromHex(name) }
}
