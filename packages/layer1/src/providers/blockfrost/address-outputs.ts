import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { Layer1Error } from '../../errors.js'
import { countOf, hexOf, type JsonRecord, objectOf, reading } from '../../http/json.js'
import type { Tip } from '../../types.js'
import { maxConcurrent } from '../provider.js'
import { type Lists, maxReads, pageSize } from './lists.js'

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
