import type { Utxo } from '@ratatosk/ledger'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { Layer1Error } from '../../errors.js'
import {
  arrayOf,
  countOf,
  hexOf,
  integerOf,
  type JsonRecord,
  objectOf,
  reading,
  textOf,
} from '../../http/json.js'
import type { Tip } from '../../types.js'
import { maxConcurrent } from '../provider.js'

/** Items of a full page, the most that Blockfrost sends. */
const pageSize = 100
/** Attempts at reading something with several requests and no block in between. */
const maxReads = 4

interface ListOptions {
  /** Oldest first (`asc`, default) or newest first. */
  readonly order?: 'asc' | 'desc'
  /** Pages to read at most; default all. */
  readonly maxPages?: number
  /** Pages requested together after the first; default 5. */
  readonly width?: number
}

interface OneBlockOptions<T> {
  /** The hash of the newest block, if the caller has just read it. */
  readonly newest?: string
  /** Whether a result comes from a single answer: blocks do not matter then. */
  readonly isAtOnce?: (result: T) => boolean
}

/** Blockfrost's lists, which come in pages. A list that Blockfrost answers with 404 is empty. */
interface Lists {
  /** The oldest items, at most {@link pageSize}. */
  page(path: string, signal: AbortSignal): Promise<readonly unknown[]>
  /** The items of one or more pages at a time, until the list ends. */
  batches(path: string, signal: AbortSignal, options?: ListOptions): AsyncGenerator<readonly unknown[]>
  /** The whole list as of one block. */
  whole(path: string, signal: AbortSignal): Promise<readonly unknown[]>
  /**
   * Repeats a read until no block came in between, which would shift pages and hide an item.
   * @throws {Layer1Error} `invalid answer` if a block comes in between every time
   */
  asOfOneBlock<T>(
    signal: AbortSignal,
    read: (tipHash: string) => Promise<T>,
    options?: OneBlockOptions<T>,
  ): Promise<T>
}

/** `find` is undefined for 404; `tipHash` is the hash of the newest block. */
export function createLists(
  find: (path: string, signal: AbortSignal) => Promise<unknown>,
  tipHash: (signal: AbortSignal) => Promise<string>,
): Lists {
  async function page(path: string, signal: AbortSignal, number = 1, order = 'asc') {
    const start = `${path}${path.includes('?') ? '&' : '?'}`
    const body = await find(`${start}count=${pageSize}&page=${number}&order=${order}`, signal)
    return body === undefined ? [] : reading('Blockfrost', 'a page', () => arrayOf(body))
  }

  async function* batches(
    path: string,
    signal: AbortSignal,
    { order = 'asc', maxPages = Number.POSITIVE_INFINITY, width = maxConcurrent }: ListOptions = {},
  ): AsyncGenerator<readonly unknown[]> {
    for (let first = 1, size = 1; first <= maxPages; first += size, size = width) {
      const numbers = Array.from(
        { length: Math.min(size, maxPages - first + 1) },
        (_, index) => first + index,
      )
      const pages = await Promise.all(numbers.map((number) => page(path, signal, number, order)))
      yield pages.flat()
      if (pages.some(({ length }) => length < pageSize)) return
    }
  }

  async function asOfOneBlock<T>(
    signal: AbortSignal,
    read: (tipHash: string) => Promise<T>,
    { newest, isAtOnce }: OneBlockOptions<T> = {},
  ): Promise<T> {
    let before = newest ?? (await tipHash(signal))
    for (let reads = 0; reads < maxReads; reads++) {
      const result = await read(before)
      if (isAtOnce?.(result)) return result
      const after = await tipHash(signal)
      if (after === before) return result
      before = after
    }
    throw new Layer1Error('LAYER1_INVALID_ANSWER', 'A block changed the list each time it was read')
  }

  return {
    page,
    batches,
    asOfOneBlock,
    async whole(path, signal) {
      const first = await page(path, signal)
      if (first.length < pageSize) return first
      return asOfOneBlock(signal, async () => {
        const items: unknown[] = []
        for await (const found of batches(path, signal)) items.push(...found)
        return items
      })
    },
  }
}

/** At the first read of a policy, assets older than so many burned ones in a row count as burned. */
const burnedAtFirst = 1000
/** The same at later reads, which also search for every asset that was unspent at the last one. */
const burnedLater = 50
const maxPolicies = 20
/** Requests that find the outputs of one asset: its holders, and the outputs of each. */
const requestsPerAsset = 2

interface PolicyOutputsOptions {
  readonly lists: Lists
  tipHash(signal: AbortSignal): Promise<string>
  holders(unit: string, signal: AbortSignal): Promise<readonly string[]>
  /** Items of the output list of an address, for one asset. */
  outputsOf(unit: string, holder: string, signal: AbortSignal): Promise<readonly unknown[]>
  readUtxos(items: readonly unknown[], signal: AbortSignal): Promise<readonly Utxo[]>
}

interface LastRead {
  readonly tipHash: string
  readonly units: ReadonlySet<string>
  /** The address of the newest asset. */
  readonly holder?: string
  readonly utxos: readonly Utxo[]
  /** Whether one answer held all outputs. */
  readonly atOnce: boolean
}

/**
 * Reads the outputs with assets of a policy, for which Blockfrost has no endpoint: from the address of the
 * newest asset while that takes fewer requests, then asset by asset. Burned assets stay in its list for ever;
 * an asset older than 1,000 burned ones in a row can be missed, unless it is on the oldest page. Where anyone
 * can mint so, read the address of the script.
 */
export function createPolicyOutputs({
  lists: { batches, asOfOneBlock },
  tipHash,
  holders,
  outputsOf,
  readUtxos,
}: PolicyOutputsOptions): (policy: string, signal: AbortSignal) => Promise<readonly Utxo[]> {
  const lastReads = new LRUCache<string, LastRead>({ max: maxPolicies })

  /** The remaining quantity of each asset, newest first. */
  async function unspentAssets(
    policy: string,
    known: ReadonlySet<string> | undefined,
    signal: AbortSignal,
  ): Promise<Map<string, bigint>> {
    const path = `/assets/policy/${policy}`
    const unspent = new Map<string, bigint>()
    const unseen = new Set(known)
    let burnedInARow = 0
    const take = (items: readonly unknown[]) => {
      for (const [unit, quantity] of assetsOf(items)) {
        unseen.delete(unit)
        if (quantity > 0n) unspent.set(unit, quantity)
        burnedInARow = quantity > 0n ? 0 : burnedInARow + 1
      }
    }
    const oldest: unknown[] = []
    for await (const items of batches(path, signal, { order: 'desc', width: 1 })) {
      take(items)
      if (items.length < pageSize) break
      if (oldest.length === 0) {
        for await (const page of batches(path, signal, { maxPages: 1 })) oldest.push(...page)
        for (const [unit] of assetsOf(oldest)) unseen.delete(unit)
      }
      if (unseen.size === 0 && burnedInARow >= (known ? burnedLater : burnedAtFirst)) break
    }
    take(oldest)
    return unspent
  }

  async function read(
    policy: string,
    last: LastRead | undefined,
    at: string,
    signal: AbortSignal,
  ): Promise<LastRead> {
    const missing = await unspentAssets(policy, last?.units, signal)
    const units = new Set(missing.keys())
    const found = new Map<string, unknown>()
    const take = (items: readonly unknown[]) => {
      for (const { item, reference, quantities } of holdingsOf(items, policy)) {
        if (found.has(reference)) continue
        found.set(reference, item)
        for (const [unit, quantity] of quantities) {
          const left = (missing.get(unit) ?? 0n) - quantity
          if (left > 0n) missing.set(unit, left)
          else missing.delete(unit)
        }
      }
    }
    const [newest] = units
    let pages = 0
    let ended = newest === undefined
    const holder = newest && (last?.holder ?? (await holders(newest, signal))[0])
    if (holder !== undefined) {
      const maxPages = requestsPerAsset * units.size
      for await (const items of batches(`/addresses/${holder}/utxos`, signal, { maxPages })) {
        take(items)
        pages++
        ended = items.length < pageSize
        if (missing.size === 0) break
      }
    }
    const atOnce = missing.size === 0 && pages <= 1 && ended
    await pLimit(maxConcurrent).map([...missing.keys()], async (unit) => {
      for (const other of await holders(unit, signal)) take(await outputsOf(unit, other, signal))
    })
    const utxos = await readUtxos([...found.values()], signal)
    return { tipHash: at, units, utxos, atOnce, ...(holder !== undefined && { holder }) }
  }

  return async (policy, signal) => {
    const last = lastReads.get(policy)
    const newest = await tipHash(signal)
    if (last?.tipHash === newest) return last.utxos
    const current = await asOfOneBlock(signal, (at) => read(policy, last, at, signal), {
      newest,
      isAtOnce: ({ atOnce }) => atOnce,
    })
    lastReads.set(policy, current)
    return current.utxos
  }
}

/** The remaining quantity of each asset on a page of a policy's list. */
function assetsOf(items: readonly unknown[]): readonly (readonly [unit: string, quantity: bigint])[] {
  return reading('Blockfrost', 'assets of a policy', () =>
    items.map((item) => {
      const { asset, quantity } = objectOf(item)
      return [textOf(asset), integerOf(quantity)] as const
    }),
  )
}

/** The outputs of a list with assets of a policy. Scripts of others are not fetched. */
export function holdingsOf(items: readonly unknown[], policy: string) {
  return reading('Blockfrost', 'an output', () =>
    items.flatMap((item) => {
      const { amount, tx_hash: transactionId, output_index: index } = objectOf(item)
      const quantities = arrayOf(amount).flatMap((entry) => {
        const { unit, quantity } = objectOf(entry)
        return textOf(unit).startsWith(policy) ? [[textOf(unit), integerOf(quantity)] as const] : []
      })
      if (quantities.length === 0) return []
      return [{ item, quantities, reference: `${hexOf(transactionId, 32)}#${countOf(index)}` }]
    }),
  )
}

/** A server may be some blocks behind the one that answered with the tip. */
const overlap = 3
/** A list is read whole again after this time, whatever its changes said; it is tried once. */
const wholeEveryMs = 600_000
const maxAddresses = 20

/** The changes by a transaction, at every address. */
export interface Changes {
  /** Those that are unspent now. */
  readonly created: readonly JsonRecord[]
  readonly spent: readonly JsonRecord[]
}

interface AddressOutputsOptions {
  readonly lists: Lists
  /** The body, or undefined for 404. */
  find(path: string, signal: AbortSignal): Promise<unknown>
  tip(signal: AbortSignal): Promise<Tip>
  changesOf(transactionId: string, signal: AbortSignal): Promise<Changes>
}

interface Known {
  readonly tip: Tip
  readonly items: ReadonlyMap<string, unknown>
  /** The newest transactions, whose changes the items have. */
  readonly ids: ReadonlySet<string>
  /** When it is to be read whole again, in milliseconds. */
  readonly dueAt: number
}

/**
 * Reads the list of outputs of an address, as Blockfrost gives it. Anyone can send outputs to an address: a
 * list of many pages is read whole once, then only the transactions since.
 */
export function createAddressOutputs({ lists, find, tip, changesOf }: AddressOutputsOptions) {
  const reads = new LRUCache<string, Known>({ max: maxAddresses })

  const keyed = (items: readonly unknown[]) =>
    reading('Blockfrost', 'outputs', () =>
      items.map((item) => {
        const { tx_hash: transactionId, output_index: index } = objectOf(item)
        return [`${hexOf(transactionId, 32)}#${countOf(index)}`, item] as const
      }),
    )

  const transactionsPath = (address: string) => `/addresses/${address}/transactions`

  /** The transactions in blocks above a height that the chain has, and the changes by new ones. */
  async function changesAbove(
    address: string,
    height: number,
    applied: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<Changes & Pick<Known, 'ids'>> {
    const from = Math.max(0, height)
    const ids = new Set<string>()
    for await (const page of lists.batches(`${transactionsPath(address)}?from=${from}`, signal)) {
      const above = reading('Blockfrost', 'transactions of an address', () =>
        page
          .map(objectOf)
          .filter(({ block_height: at }) => countOf(at) > height)
          .map(({ tx_hash: id }) => hexOf(id, 32)),
      )
      for (const id of above) ids.add(id)
    }
    const news = [...ids].filter((id) => !applied.has(id))
    const changes = await pLimit(maxConcurrent).map(news, (id) => changesOf(id, signal))
    const here = (items: readonly JsonRecord[]) => items.filter((item) => item.address === address)
    return {
      ids,
      created: changes.flatMap(({ created }) => here(created)),
      spent: changes.flatMap(({ spent }) => here(spent)),
    }
  }

  function changed(items: Known['items'], { created, spent }: Changes): Known['items'] {
    const next = new Map([...items, ...keyed(created)])
    for (const [key] of keyed(spent)) next.delete(key)
    return next
  }

  /** An output that comes while the pages are read moves none of them; one that is spent hides another. */
  async function readWhole(address: string, signal: AbortSignal): Promise<Known> {
    for (let read = 0; read < maxReads; read++) {
      const at = await tip(signal)
      const items = new Map<string, unknown>()
      for await (const found of lists.batches(`/addresses/${address}/utxos`, signal)) {
        for (const [key, item] of keyed(found)) items.set(key, item)
      }
      const changes = await changesAbove(address, at.height, new Set(), signal)
      if (changes.spent.length === 0 && (await isInChain(at, signal))) {
        return { tip: at, items: changed(items, changes), ids: changes.ids, dueAt: Date.now() + wholeEveryMs }
      }
    }
    throw new Layer1Error('LAYER1_INVALID_ANSWER', 'A block changed the list each time it was read')
  }

  async function isInChain({ hash }: Tip, signal: AbortSignal): Promise<boolean> {
    return (await find(`/blocks/${hash}`, signal)) !== undefined
  }

  /** Undefined if the chain was rolled back. */
  async function follow(address: string, known: Known, signal: AbortSignal): Promise<Known | undefined> {
    const now = await tip(signal)
    if (now.hash === known.tip.hash) return known
    const changes = await changesAbove(address, known.tip.height - overlap, known.ids, signal)
    if (!(await isInChain(known.tip, signal))) return undefined
    return { ...known, tip: now, items: changed(known.items, changes), ids: changes.ids }
  }

  return async (address: string, signal: AbortSignal): Promise<readonly unknown[]> => {
    const path = `/addresses/${address}/utxos`
    const known = reads.get(address)
    if (known === undefined) {
      const first = await lists.page(path, signal)
      if (first.length < pageSize) return first
      // Not every compatible server lists them.
      if ((await lists.page(transactionsPath(address), signal)).length === 0) return lists.whole(path, signal)
    }
    const isDue = known !== undefined && Date.now() >= known.dueAt
    // A list of very many pages can fail to be read whole, as long as others change it: not each read tries.
    if (isDue) reads.set(address, { ...known, dueAt: Date.now() + wholeEveryMs })
    const followed = known && !isDue ? await follow(address, known, signal) : undefined
    const next = followed ?? (await readWhole(address, signal))
    reads.set(address, next)
    return [...next.items.values()]
  }
}
