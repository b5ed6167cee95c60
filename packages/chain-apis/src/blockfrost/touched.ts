import { effects, outputReferenceKey, type TransactionOutput } from '@ratatosk/ledger'
import { TooManyOutputsError } from '../limited-outputs.js'
import { createPause } from '../pause.js'
import type { ChainTransaction, ChainView } from '../view/chain-view.js'

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
