import { limitedPages, TooManyOutputsError } from '../limited-outputs.js'
import type { ChainOutput, ChainOutputQuery, ChainView } from '../view/chain-view.js'
import { type Amount, amountJson, byUnit } from './output-json.js'

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
