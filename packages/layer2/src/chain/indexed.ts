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
  type SlotRange,
} from '@ratatosk/chain-apis'
import { blake2b256, decodeTransactionOutput, type OutputReference, splitUnit } from '@ratatosk/ledger'
import type { BlockEnd, ChainQueries } from '@ratatosk/store'
import type {
  At,
  HistoryQuery,
  IndexedOutput,
  IndexedRedeemer,
  IndexedTransaction,
  LedgerIndex,
  OutputPart,
  OutputQuery,
  SequenceRange,
} from '../ledger-index/index.js'
import { shareReads } from '../ledger-index/open-index.js'
import type { ViewBlocks } from './blocks.js'
import type { Finality, Head } from './finality.js'

/** The ledger of a view at one moment. */
interface State {
  readonly head: Head
  readonly at: At
}

type RangesOf = (
  query: Pick<ChainOutputQuery, 'createdIn' | 'spentIn'>,
  state: State,
) => Promise<Pick<OutputQuery, 'produced' | 'spentBy'> | undefined>

const genesis: BlockEnd = { height: 0n, lastSequence: 0n }

/** The blocks above one and up to another. Without the latter, the newest of the view too. */
interface Between {
  readonly above: BlockEnd | undefined
  readonly upTo: BlockEnd | undefined
}

/**
 * Turns the slots of a query into the accept sequences by which the index finds outputs, with a few reads of
 * blocks. The answer is undefined if no output can match.
 */
function slotRanges(
  finality: Finality,
  chain: Pick<ChainQueries, 'depositsBetween'>,
  { closedUntil, openSlot }: Pick<ViewBlocks, 'closedUntil' | 'openSlot'>,
): RangesOf {
  const endAt = async (slot: bigint, newest: Head) => (await closedUntil(slot, newest)) ?? genesis

  async function between({ from = 0n, to }: SlotRange, newest: Head): Promise<Between | undefined> {
    const open = openSlot(newest)
    if (from > open || (to !== undefined && to < from)) return undefined
    return {
      above: from > 0n ? await endAt(from - 1n, newest) : undefined,
      upTo: to === undefined || to >= open ? undefined : await endAt(to, newest),
    }
  }

  async function producedIn({ above, upTo }: Between, { head, at }: State): Promise<SequenceRange> {
    const last: Partial<BlockEnd> = upTo ?? {
      ...(finality !== 'accepted' && { height: BigInt(head.tip.height) }),
      ...(at.sequence !== undefined && { lastSequence: at.sequence }),
    }
    const { credited, waiting } = await chain.depositsBetween(above ?? genesis, last)
    const until = last.lastSequence
    return {
      ...(above && { after: above.lastSequence }),
      ...(until !== undefined && { until }),
      without: waiting,
      others: credited,
    }
  }

  return async ({ createdIn, spentIn }, state) => {
    const created = createdIn && (await between(createdIn, state.head))
    const spent = spentIn && (await between(spentIn, state.head))
    if ((createdIn && !created) || (spentIn && !spent)) return undefined
    return {
      ...(created && { produced: await producedIn(created, state) }),
      ...(spent && {
        spentBy: {
          ...(spent.above && { after: spent.above.lastSequence }),
          ...(spent.upTo && { until: spent.upTo.lastSequence }),
        },
      }),
    }
  }
}

/** Reads that a view answers from those of the same name. */
type SharedReads =
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

/** The reads of the index that a view needs. */
export type ReadIndex = Pick<LedgerIndex, SharedReads | 'caughtUp' | 'progress' | 'lagMs'>
type IndexedReads = Pick<ChainView, SharedReads | 'outputPages' | 'indexedSlot' | 'version'>

/** Outputs that are read at a time. Few, because an answer that waits for its client keeps them in memory. */
const pageRows = 128
/** Bytes of CBOR after which a page ends. */
const pageBytes = 64 * 1024

/** The view of the index at a finality. */
interface View {
  readonly finality: Finality
  readonly index: ReadIndex
  readonly chain: Pick<ChainQueries, 'newestSequence' | 'newestDrop' | 'depositsBetween'>
  readonly blocks: Pick<ViewBlocks, 'head' | 'placesOf' | 'ledgerAt' | 'closedUntil' | 'openSlot' | 'slotAgo'>
  progress(): ReturnType<ReadIndex['progress']>
  readonly rangesOf: ReturnType<typeof slotRanges>
}

/** Reads the part of the index that a finality shows. */
export function indexedReads(
  finality: Finality,
  index: ReadIndex,
  chain: View['chain'],
  blocks: View['blocks'],
): IndexedReads {
  // Each read of the index asks before and after.
  const readProgress = shareReads(() => index.progress())
  const progress = () => unlessBehind(readProgress('progress'))
  const rangesOf = slotRanges(finality, chain, blocks)
  const view: View = { finality, index, chain, blocks, progress, rangesOf }
  /** A complete read of the newest state. */
  const readNow = async <T>(read: (state: State) => Promise<T>): Promise<T> =>
    (await steady(view, stateOf, read)).value

  return {
    outputs: (query, part) => readNow((state) => readOutputs(view, query, part, state)),
    outputPages: (query, order) => readPages(view, query, order),
    history: (query, part, { from, to } = {}) =>
      readNow(async ({ head, at }) => {
        const until = (to && (await blocks.ledgerAt(to, head))) ?? at
        const since = from && (await blocks.ledgerAt(beforePoint(from), head))
        if (from !== undefined && since === undefined) return []
        return placed(view, await index.history(historyQuery(query), part, until, since), head)
      }),
    totals: (first, last) =>
      readNow(async ({ head, at }) => {
        const since = await blocks.ledgerAt({ height: first - 1 }, head)
        if (since === undefined) return { transactions: 0, output: 0n, fees: 0n }
        const until = (await blocks.ledgerAt({ height: last }, head)) ?? at
        return index.totals(since.sequence, until.sequence)
      }),
    labelled: (label, part) =>
      readNow(async ({ at }) => (await index.labelled(label, part, at)).map(({ id }) => toHex(id))),
    labels: (part) => readNow(({ at }) => index.labels(part, at)),
    assets: (policy, part) =>
      readNow(async ({ at }) => {
        const found = await index.assets(policy === undefined ? undefined : fromHex(policy), part, at)
        return found.map((asset) => ({
          unit: toHex(asset.policy) + toHex(asset.name),
          quantity: asset.quantity,
        }))
      }),
    asset: (unit) => readNow((state) => readAsset(view, unit, state)),
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
      await caughtUp(index)
      return new Map((await index.datums(wanted)).map(({ hash, bytes }) => [toHex(hash), bytes]))
    },
    async script(hash) {
      if (!/^[0-9a-f]{56}$/.test(hash)) return undefined
      await caughtUp(index)
      return index.script(fromHex(hash))
    },
    scripts: (part) => readNow(async ({ at }) => (await index.scripts(part, at)).map(toHex)),
    redeemers: (script, part) =>
      readNow(async ({ at }) => (await index.redeemers(fromHex(script), part, at)).map(toScriptRedeemer)),
    withdrawals: ({ hash }, part) =>
      readNow(async ({ head, at }) => placed(view, await index.withdrawals(hash, part, at), head)),
    indexedSlot: () => indexedSlot(view),
    async version() {
      const [{ tip }, sequence, drop] = await newestOf(view)
      return toHex(blake2b256(Buffer.from(`${tip.hash} ${sequence} ${drop}`)))
    },
  }
}

async function unlessBehind<T>(read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    if (codeOf(error) !== 'INDEX_BEHIND') throw error
    throw new ChainUnavailableError('The index has not followed the ledger yet. Try again in a few seconds.')
  }
}

const caughtUp = (index: ReadIndex, sequence?: bigint) => unlessBehind(index.caughtUp(sequence))

const newestOf = ({ blocks, chain }: View) =>
  Promise.all([blocks.head(), chain.newestSequence(), chain.newestDrop()])

/** The state of the view in the index, which then holds everything that the view shows. */
async function stateOf({ finality, index, blocks }: View): Promise<State> {
  const head = await blocks.head()
  if (finality === 'accepted') {
    await caughtUp(index)
    return { head, at: {} }
  }
  const { lastSequence: sequence, deposits } = head
  // 0 is genesis, for which the index knows only whether it holds all of it.
  await caughtUp(index, sequence === 0n ? undefined : (deposits.credited.at(-1) ?? sequence))
  return { head, at: { sequence, ...deposits } }
}

/** The state of the view now, which later answers can show too. */
async function snapshot(view: View): Promise<State> {
  // Before the head: transactions that leave the mempool meanwhile are in the head's block.
  const pending = (await view.chain.newestSequence()) ?? 0n
  const state = await stateOf(view)
  if (view.finality !== 'accepted') return state
  const { lastSequence } = state.head
  return { ...state, at: { sequence: pending > lastSequence ? pending : lastSequence } }
}

/**
 * A read of a state, with one more try after an undo, which may make a read fail. `isWhole`: whether the
 * index still holds the state.
 *
 * @throws {ChainUnavailableError} if another undo happens
 */
async function steady<T>(
  view: View,
  stateNow: (view: View) => Promise<State>,
  read: (state: State) => Promise<T>,
) {
  for (let isLast = false; ; isLast = true) {
    // Before the state: what is undone while that is read may be missing.
    const start = await view.progress()
    const state = await stateNow(view)
    const { sequence = 0n, credited = [] } = state.at
    const shown = credited.at(-1) ?? sequence
    const isWhole = async () => {
      const now = await view.progress()
      const isEmptied = now.sequence < start.sequence || (start.genesis && !now.genesis)
      return !isEmptied && now.sequence >= shown && now.dropNumber === start.dropNumber
    }
    const [outcome] = await Promise.allSettled([read(state)])
    if (await isWhole()) {
      if (outcome.status === 'rejected') throw outcome.reason
      return { value: outcome.value, isWhole }
    }
    if (isLast) throw undone()
    await caughtUp(view.index)
  }
}

function undone(): ChainUnavailableError {
  return new ChainUnavailableError('The ledger has undone transactions while the answer was read. Ask again.')
}

async function placed({ blocks }: View, found: readonly IndexedTransaction[], head: Head) {
  const sequences = found.map(({ sequence }) => sequence)
  const placeOf = await blocks.placesOf(sequences, head)
  return found.map(({ id, sequence }) => ({ hash: toHex(id), place: placeOf(sequence) }))
}

async function indexedSlot(view: View): Promise<bigint> {
  const { blocks, index } = view
  const [head, sequence, drop] = await newestOf(view)
  const followed = await view.progress()
  const shown = [sequence ?? 0n, head.lastSequence, head.deposits.credited.at(-1) ?? 0n]
  const isBehind = shown.some((each) => followed.sequence < each) || followed.dropNumber < drop
  if (!isBehind && followed.genesis) return blocks.openSlot(head)
  const { block } = (await blocks.placesOf([followed.sequence], head))(followed.sequence)
  // Within the open block, only the time says how far.
  return block.height > head.tip.height ? blocks.slotAgo(index.lagMs(), head) : block.slot
}

async function readAsset({ index }: View, unit: string, { at }: State) {
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
}

/** The query as the index takes it; undefined if no output can match. */
async function indexQuery(
  view: View,
  query: ChainOutputQuery,
  state: State,
): Promise<OutputQuery | undefined> {
  const wanted = staticQuery(query)
  const ranges = wanted && (await view.rangesOf(query, state))
  return ranges && { ...wanted, ...ranges }
}

/** Outputs in the form that the index keeps, and pages of them decoded. */
async function findOutputs(view: View, query: OutputQuery, part: OutputPart, { head, at }: State) {
  const found = await view.index.outputs(query, part, at)
  const placeOf = await view.blocks.placesOf(
    found.flatMap(({ sequence, spent }) => (spent === undefined ? [sequence] : [sequence, spent.sequence])),
    head,
  )
  return { found, pages: decoded(found, placeOf) }
}

async function readOutputs(view: View, query: ChainOutputQuery, part: ListPart, state: State) {
  const outputs: ChainOutput[] = []
  const wanted = await indexQuery(view, query, state)
  if (wanted === undefined) return outputs
  const { pages } = await findOutputs(view, wanted, part, state)
  for await (const page of pages) outputs.push(...page)
  return outputs
}

/** Pages of one state. @throws {ChainUnavailableError} after an undo: the state is gone */
async function* readPages(view: View, wanted: ChainOutputQuery, order: NonNullable<ListPart['order']>) {
  const { value, isWhole } = await steady(view, snapshot, async (state) => ({
    state,
    query: await indexQuery(view, wanted, state),
  }))
  const { state, query } = value
  if (query === undefined) return
  let after: IndexedOutput | undefined
  for (;;) {
    const part = { offset: 0, limit: pageRows, order, ...(after && { after }) }
    const { found, pages } = await findOutputs(view, query, part, state)
    for await (const page of pages) {
      if (!(await isWhole())) throw undone()
      yield page
    }
    if (found.length < pageRows) break
    after = found.at(-1)
    await nextIteration()
  }
  if (!(await isWhole())) throw undone()
}

/** Outputs in pages of which each has a budget of bytes: decoded, they take many times as much memory. */
async function* decoded(found: readonly IndexedOutput[], placeOf: (sequence: bigint) => Place) {
  const pause = createPause()
  let page: ChainOutput[] = []
  let bytes = 0
  for (const each of found) {
    await pause()
    page.push(toChainOutput(each, placeOf))
    bytes += each.output.length
    if (bytes < pageBytes) continue
    yield page
    page = []
    bytes = 0
  }
  if (page.length > 0) yield page
}

function toScriptRedeemer({ id, data, memory, steps, ...redeemer }: IndexedRedeemer) {
  return { ...redeemer, hash: toHex(id), dataHash: toHex(data), executionUnits: { memory, steps } }
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
