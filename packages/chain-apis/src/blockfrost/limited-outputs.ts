import { effects, outputReferenceKey, type TransactionOutput } from '@ratatosk/ledger'
import { RefusalError } from '../errors.js'
import { createPause } from '../pause.js'
import type {
  ChainOutput,
  ChainOutputQuery,
  ChainTransaction,
  ChainView,
  ListPart,
} from '../view/chain-view.js'
import { type Amount, amountJson, byUnit } from './transaction-json.js'

/** More outputs match than a sum may be made of. */
export class TooManyOutputsError extends RefusalError {
  override readonly name = 'TooManyOutputsError'

  constructor(most: number, what = 'outputs match') {
    super(400, `More than ${most} ${what}. Read them by pages and add them up.`)
  }
}

/** All matching outputs by page. Throws {@link TooManyOutputsError} while it is read, above `most`. */
export async function* limitedPages(
  chain: ChainView,
  query: ChainOutputQuery,
  most: number,
  order: NonNullable<ListPart['order']> = 'oldest-first',
): AsyncGenerator<readonly ChainOutput[], void> {
  let count = 0
  for await (const page of chain.outputPages(query, order)) {
    count += page.length
    if (count > most) throw new TooManyOutputsError(most)
    yield page
  }
}

/** The outputs that a transaction spends or produces. */
interface Touched {
  readonly hash: string
  readonly outputs: readonly TransactionOutput[]
}

/**
 * The outputs that each page of transactions touches. An output that a transaction spends is one of the chain
 * or of a transaction before it.
 *
 * @throws {TooManyOutputsError} while it is read, above `most` outputs
 */
export async function* touchedOutputs(
  chain: ChainView,
  pages: AsyncIterable<readonly ChainTransaction[]>,
  most: number,
): AsyncGenerator<readonly Touched[], void> {
  const known = new Map<string, TransactionOutput>()
  const pause = createPause()
  let count = 0
  for await (const page of pages) {
    const touched = page.map(({ hash, transaction }) => {
      const { spent, produced } = effects(transaction)
      return { hash, spent: spent.map(outputReferenceKey), produced }
    })
    for (const { spent, produced } of touched) {
      count += spent.length + produced.length
      for (const { reference, output } of produced) known.set(outputReferenceKey(reference), output)
    }
    if (count > most) throw new TooManyOutputsError(most, 'outputs are spent or produced')
    const references = touched.flatMap(({ spent }) => spent.filter((key) => !known.has(key)))
    if (references.length > 0) {
      const found = await chain.outputs({ references }, { offset: 0, limit: references.length })
      for (const { key, output } of found) known.set(key, output)
    }
    yield touched.map(({ hash, spent, produced }) => {
      const inputs = spent.flatMap((key) => known.get(key) ?? [])
      return { hash, outputs: [...inputs, ...produced.map(({ output }) => output)] }
    })
    await pause()
  }
}

/** The most units of a total, which is built in memory. An output holds about a thousand at most. */
const maxUnits = 20_000

/** The sum of several outputs. `add` throws {@link TooManyOutputsError} beyond 20,000 units. */
export class Total {
  readonly #quantities = new Map<string, bigint>([['lovelace', 0n]])
  outputs = 0

  add(outputs: readonly Pick<ChainOutput, 'output'>[]): this {
    this.outputs += outputs.length
    for (const { output } of outputs) {
      for (const { unit, quantity } of amountJson(output.value)) {
        this.#quantities.set(unit, (this.#quantities.get(unit) ?? 0n) + BigInt(quantity))
      }
      if (this.#quantities.size > maxUnits)
        throw new TooManyOutputsError(maxUnits, 'assets are in the outputs')
    }
    return this
  }

  get lovelace(): bigint {
    return this.#quantities.get('lovelace') ?? 0n
  }

  /** Lovelace, then the assets in the order of their units. */
  json(): Amount[] {
    return [{ unit: 'lovelace', quantity: String(this.lovelace) }, ...this.assets().sort(byUnit)]
  }

  /** The assets in the order of the outputs. */
  assets(): Amount[] {
    const [, ...assets] = this.#quantities
    return assets.map(([unit, quantity]) => ({ unit, quantity: String(quantity) }))
  }
}

/** The sum of the unspent outputs of a query. @throws {TooManyOutputsError} */
export async function unspentTotal(chain: ChainView, query: ChainOutputQuery, most: number): Promise<Total> {
  const total = new Total()
  for await (const outputs of limitedPages(chain, { ...query, spent: false }, most)) total.add(outputs)
  return total
}

/**
 * The sums that the outputs of a query ever received and sent, and the number of transactions; undefined
 * without outputs.
 *
 * @throws {TooManyOutputsError}
 */
export async function flowJson(chain: ChainView, query: ChainOutputQuery, most: number) {
  const received = new Total()
  const sent = new Total()
  const transactions = new Set<string>()
  for await (const outputs of limitedPages(chain, query, most)) {
    received.add(outputs)
    sent.add(outputs.filter(({ spent }) => spent !== undefined))
    for (const { transactionHash, spent } of outputs) {
      transactions.add(transactionHash)
      if (spent !== undefined) transactions.add(spent.transactionHash)
    }
  }
  if (received.outputs === 0) return undefined
  return { received_sum: received.json(), sent_sum: sent.json(), tx_count: transactions.size }
}
