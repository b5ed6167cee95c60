import { setImmediate as nextIteration } from 'node:timers/promises'
import { fromHex, toHex } from '@ratatosk/cbor'
import {
  type BlockPoint,
  type ChainOutput,
  type ChainOutputQuery,
  ChainUnavailableError,
  type ChainView,
  createPause,
  type ListPart,
  type Place,
} from '@ratatosk/chain-apis'
import { blake2b256, decodeTransactionOutput, type OutputReference, splitUnit } from '@ratatosk/ledger'
import type { ChainQueries } from '@ratatosk/store'
import type {
  HistoryQuery,
  IndexedOutput,
  IndexedTransaction,
  LedgerIndex,
  OutputPart,
  OutputQuery,
} from '../ledger-index/index.js'
import { shareReads } from '../ledger-index/share-reads.js'
import type { ViewBlocks } from './blocks.js'
import type { Finality, Head } from './finality.js'
import { type State, slotRanges } from './slot-ranges.js'

/** The reads of the index that a view needs. */
export type ReadIndex = Pick<
  LedgerIndex,
  | 'caughtUp'
  | 'progress'
  | 'lagMs'
  | 'outputs'
  | 'history'
  | 'totals'
  | 'labelled'
  | 'labels'
  | 'assets'
  | 'asset'
  | 'mints'
  | 'knowsAddress'
  | 'datums'
  | 'script'
  | 'scripts'
  | 'redeemers'
  | 'withdrawals'
>

type IndexedReads = Pick<
  ChainView,
  | 'outputs'
  | 'outputPages'
  | 'history'
  | 'totals'
  | 'labelled'
  | 'labels'
  | 'assets'
  | 'asset'
  | 'mints'
  | 'knowsAddress'
  | 'datums'
  | 'script'
  | 'scripts'
  | 'redeemers'
  | 'withdrawals'
  | 'indexedSlot'
  | 'version'
>

/** Outputs that are read at a time. Few, because an answer that waits for its client keeps them in memory. */
const pageRows = 128
/** Bytes of CBOR after which a page ends. */
const pageBytes = 64 * 1024

/** Reads the part of the index that a finality shows. */
export function indexedReads(
  finality: Finality,
  index: ReadIndex,
  chain: Pick<ChainQueries, 'newestSequence' | 'newestDrop' | 'depositsBetween'>,
  blocks: Pick<ViewBlocks, 'head' | 'placesOf' | 'ledgerAt' | 'closedUntil' | 'openSlot' | 'slotAgo'>,
): IndexedReads {
  const { head, placesOf, ledgerAt } = blocks
  const rangesOf = slotRanges(finality, chain, blocks)
  // Each read of the index asks before and after.
  const readProgress = shareReads(() => index.progress())
  const progress = () => unlessBehind(readProgress('progress'))
  const caughtUp = (sequence?: bigint) => unlessBehind(index.caughtUp(sequence))

  async function unlessBehind<T>(read: Promise<T>): Promise<T> {
    try {
      return await read
    } catch (error) {
      if (codeOf(error) !== 'INDEX_BEHIND') throw error
      throw new ChainUnavailableError(
        'The index has not followed the ledger yet. Try again in a few seconds.',
      )
    }
  }

  /** The state of the view in the index, which then holds everything that the view shows. */
  async function stateOf(): Promise<State> {
    const newest = await head()
    if (finality === 'accepted') {
      await caughtUp()
      return { head: newest, at: {} }
    }
    const { lastSequence: sequence, deposits } = newest
    // 0 is genesis, for which the index knows only whether it holds all of it.
    await caughtUp(sequence === 0n ? undefined : (deposits.credited.at(-1) ?? sequence))
    return { head: newest, at: { sequence, ...deposits } }
  }

  /** The state of the view now, which later answers can show too. */
  async function snapshot(): Promise<State> {
    // Before the head: transactions that leave the mempool meanwhile are in the head's block.
    const pending = (await chain.newestSequence()) ?? 0n
    const state = await stateOf()
    if (finality !== 'accepted') return state
    const { lastSequence } = state.head
    return { ...state, at: { sequence: pending > lastSequence ? pending : lastSequence } }
  }

  /** Outputs in the form that the index keeps, and what decodes them. */
  async function findOutputs(query: OutputQuery, part: OutputPart, { head: newest, at }: State) {
    const found = await index.outputs(query, part, at)
    const placeOf = await placesOf(
      found.flatMap(({ sequence, spent }) => (spent === undefined ? [sequence] : [sequence, spent.sequence])),
      newest,
    )
    const pause = createPause()
    const decode = async (each: IndexedOutput) => {
      await pause()
      return toChainOutput(each, placeOf)
    }
    return { found, decode }
  }

  /** A read of a state, or its error, and whether the index still holds it: an undo may make a read fail. */
  async function watched<T>(stateNow: () => Promise<State>, read: (state: State) => Promise<T>) {
    // Before the state: what is undone while that is read may be missing.
    const start = await progress()
    const state = await stateNow()
    const { sequence = 0n, credited = [] } = state.at
    const shown = credited.at(-1) ?? sequence
    const isWhole = async () => {
      const now = await progress()
      const isEmptied = now.sequence < start.sequence || (start.genesis && !now.genesis)
      return !isEmptied && now.sequence >= shown && now.dropNumber === start.dropNumber
    }
    const check = async () => {
      if (await isWhole()) return
      throw new ChainUnavailableError(
        'The ledger has undone transactions while the answer was read. Ask again.',
      )
    }
    const [outcome] = await Promise.allSettled([read(state)])
    return { outcome, isWhole, check }
  }

  /** As above, with one more try after an undo. @throws {ChainUnavailableError} if that happens again */
  async function steady<T>(stateNow: () => Promise<State>, read: (state: State) => Promise<T>) {
    let last = await watched(stateNow, read)
    if (!(await last.isWhole())) {
      await caughtUp()
      last = await watched(stateNow, read)
      await last.check()
    }
    const { outcome, check } = last
    if (outcome.status === 'rejected') throw outcome.reason
    return { value: outcome.value, check }
  }

  /** A complete read of the newest state. */
  async function readNow<T>(read: (state: State) => Promise<T>): Promise<T> {
    return (await steady(stateOf, read)).value
  }

  async function placed(found: readonly IndexedTransaction[], newest: Head) {
    const placeOf = await placesOf(
      found.map(({ sequence }) => sequence),
      newest,
    )
    return found.map(({ id, sequence }) => ({ hash: toHex(id), place: placeOf(sequence) }))
  }

  /** The query as the index takes it; undefined if no output can match. */
  async function indexQuery(query: ChainOutputQuery, state: State): Promise<OutputQuery | undefined> {
    const wanted = staticQuery(query)
    const ranges = wanted && (await rangesOf(query, state))
    return ranges && { ...wanted, ...ranges }
  }

  async function indexedSlot(): Promise<bigint> {
    const [newest, sequence, drop] = await Promise.all([head(), chain.newestSequence(), chain.newestDrop()])
    const followed = await progress()
    const shown = [sequence ?? 0n, newest.lastSequence, newest.deposits.credited.at(-1) ?? 0n]
    const isBehind = shown.some((each) => followed.sequence < each) || followed.dropNumber < drop
    if (!isBehind && followed.genesis) return blocks.openSlot(newest)
    const { block } = (await placesOf([followed.sequence], newest))(followed.sequence)
    // Within the open block, only the time says how far.
    return block.height > newest.tip.height ? blocks.slotAgo(index.lagMs(), newest) : block.slot
  }

  /** Pages of one state. @throws {ChainUnavailableError} after an undo: the state is gone */
  async function* readPages(wanted: ChainOutputQuery, order: NonNullable<ListPart['order']>) {
    const { value, check } = await steady(snapshot, async (now) => ({
      state: now,
      query: await indexQuery(wanted, now),
    }))
    const { state, query } = value
    if (query === undefined) return
    let after: IndexedOutput | undefined
    for (;;) {
      const part = { offset: 0, limit: pageRows, order, ...(after && { after }) }
      const { found, decode } = await findOutputs(query, part, state)
      for await (const page of decoded(found, decode)) {
        await check()
        yield page
      }
      if (found.length < pageRows) return check()
      after = found.at(-1)
      await nextIteration()
    }
  }

  /** Outputs in pages of which each has a budget of bytes: decoded, they take many times as much memory. */
  async function* decoded(
    found: readonly IndexedOutput[],
    decode: (each: IndexedOutput) => Promise<ChainOutput>,
  ) {
    let page: ChainOutput[] = []
    let bytes = 0
    for (const each of found) {
      page.push(await decode(each))
      bytes += each.output.length
      if (bytes < pageBytes) continue
      yield page
      page = []
      bytes = 0
    }
    if (page.length > 0) yield page
  }

  return {
    outputs: (query, part) =>
      readNow(async (state) => {
        const wanted = await indexQuery(query, state)
        if (wanted === undefined) return []
        const { found, decode } = await findOutputs(wanted, part, state)
        const outputs: ChainOutput[] = []
        for (const each of found) outputs.push(await decode(each))
        return outputs
      }),
    outputPages: readPages,
    history: (query, part, { from, to } = {}) =>
      readNow(async ({ head: newest, at }) => {
        const until = (to && (await ledgerAt(to, newest))) ?? at
        const since = from && (await ledgerAt(beforePoint(from), newest))
        if (from !== undefined && since === undefined) return []
        return placed(await index.history(historyQuery(query), part, until, since), newest)
      }),
    totals: (first, last) =>
      readNow(async ({ head: newest, at }) => {
        const since = await ledgerAt({ height: first - 1 }, newest)
        if (since === undefined) return { transactions: 0, output: 0n, fees: 0n }
        const until = (await ledgerAt({ height: last }, newest)) ?? at
        return index.totals(since.sequence, until.sequence)
      }),
    labelled: (label, part) =>
      readNow(async ({ at }) => (await index.labelled(label, part, at)).map(({ id }) => toHex(id))),
    labels: (part) => readNow(({ at }) => index.labels(part, at)),
    assets: (policy, part) =>
      readNow(async ({ at }) => {
        const found = await index.assets(policy === undefined ? undefined : fromHex(policy), part, at)
        return found.map(({ quantity, ...asset }) => ({
          unit: toHex(asset.policy) + toHex(asset.name),
          quantity,
        }))
      }),
    asset: (unit) =>
      readNow(async ({ at }) => {
        const { policy, assetName } = assetOf(unit)
        const found = await index.asset(policy, assetName, at)
        if (found === undefined) return undefined
        const { described, ...asset } = found
        return {
          ...asset,
          first: toHex(found.first),
          last: toHex(found.last),
          ...(described && { described: toHex(described) }),
        }
      }),
    mints: (unit, part) =>
      readNow(async ({ at }) => {
        const { policy, assetName } = assetOf(unit)
        const found = await index.mints(policy, assetName, part, at)
        return found.map(({ id, quantity }) => ({ hash: toHex(id), quantity }))
      }),
    knowsAddress: (address) => readNow(({ at }) => index.knowsAddress(fromHex(address), at)),
    async datums(hashes) {
      const wanted = hashes.filter((hash) => /^[0-9a-f]{64}$/.test(hash)).map(fromHex)
      if (wanted.length === 0) return new Map()
      await caughtUp()
      return new Map((await index.datums(wanted)).map(({ hash, bytes }) => [toHex(hash), bytes]))
    },
    async script(hash) {
      if (!/^[0-9a-f]{56}$/.test(hash)) return undefined
      await caughtUp()
      return index.script(fromHex(hash))
    },
    scripts: (part) => readNow(async ({ at }) => (await index.scripts(part, at)).map(toHex)),
    redeemers: (script, part) =>
      readNow(async ({ at }) =>
        (await index.redeemers(fromHex(script), part, at)).map(
          ({ id, data, memory, steps, ...redeemer }) => ({
            ...redeemer,
            hash: toHex(id),
            dataHash: toHex(data),
            executionUnits: { memory, steps },
          }),
        ),
      ),
    withdrawals: ({ hash }, part) =>
      readNow(async ({ head: newest, at }) => placed(await index.withdrawals(hash, part, at), newest)),
    indexedSlot,
    async version() {
      const [{ tip }, sequence, drop] = await Promise.all([
        head(),
        chain.newestSequence(),
        chain.newestDrop(),
      ])
      return toHex(blake2b256(Buffer.from(`${tip.hash} ${sequence} ${drop}`)))
    },
  }
}

function toChainOutput(
  { transactionId, index, sequence, output, collateralReturn, spent }: IndexedOutput,
  placeOf: (sequence: bigint) => Place,
): ChainOutput {
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
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** The place before another one. */
function beforePoint({ height, position = 0 }: BlockPoint): BlockPoint {
  return position > 0 ? { height, position: position - 1 } : { height: height - 1 }
}

function historyQuery(query: Parameters<ChainView['history']>[0]): HistoryQuery {
  if ('unit' in query) return assetOf(query.unit)
  const { address, paymentCredential = '' } = query
  return address === undefined
    ? { paymentCredential: fromHex(paymentCredential) }
    : { address: fromHex(address) }
}

/** The part of a query that is the same for every state; undefined if no output can match. */
function staticQuery(query: ChainOutputQuery): OutputQuery | undefined {
  const { address, paymentCredential, stakeCredential, policy, unit, references, transaction, spent } = query
  const { referenceScript } = query
  if (spent === false && query.spentIn !== undefined) return undefined
  const wanted = references?.flatMap((key) => readReference(key) ?? [])
  if (wanted?.length === 0) return undefined
  if (transaction !== undefined && !/^[0-9a-f]{64}$/.test(transaction)) return undefined
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
    ...(referenceScript !== undefined && { referenceScript: fromHex(referenceScript) }),
    ...(spent !== undefined && { spent }),
  }
}

/** Reads `<64 hex digits>#<index>`; undefined if the text is no output reference. */
export function readReference(key: string): OutputReference | undefined {
  const [, id, index] = /^([0-9a-f]{64})#(\d{1,5})$/.exec(key) ?? []
  if (id === undefined || Number(index) > 0xffff) return undefined
  return { transactionId: fromHex(id), index: Number(index) }
}

/** An asset as the index names it. @param unit policy id and asset name in hex */
function assetOf(unit: string) {
  const { policy, name } = splitUnit(unit)
  return { policy: fromHex(policy), assetName: fromHex(name) }
}
