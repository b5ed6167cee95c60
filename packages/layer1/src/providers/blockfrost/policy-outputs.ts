import type { Utxo } from '@ratatosk/ledger'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { arrayOf, countOf, hexOf, integerOf, objectOf, reading, textOf } from '../../http/json.js'
import { maxConcurrent } from '../provider.js'
import { type Lists, pageSize } from './lists.js'

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
