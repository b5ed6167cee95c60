import { isLayer1Error } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import {
  allElements,
  burnElements,
  dustOf,
  maxBurnedElements,
  type RegistryElement,
  readStateQueue,
} from '@ratatosk/protocol'
import { findRegistry } from '../blocks/operator-turn.js'
import type { SequencerContext } from '../context.js'
import { administratorOf } from './administrator.js'
import { readReferenceScripts } from './reference-scripts.js'
import { sendChain } from './send-chain.js'

/** What one transaction burns, and the dust that it sweeps. */
interface Batch {
  readonly elements: readonly Utxo[]
  readonly dust: readonly Utxo[]
}

/**
 * Burns every element of the queue, roots first, so that nothing can be appended meanwhile. Reads the queue
 * once, sends `maxUnconfirmed` transactions at a time, and reads it again at the end for elements that were
 * added or spent meanwhile. An interrupted call leaves a shorter queue; the next one burns the rest.
 *
 * The transactions also sweep the dust at the queue's address, as far as they have room. The script releases
 * it only to a transaction that burns an element, so the elements are spread over more transactions while
 * there is more dust: a root alone takes 99 outputs along.
 *
 * @returns whether there was any element
 */
export async function burnQueue(context: SequencerContext): Promise<boolean> {
  let burned = 0
  let dust: readonly Utxo[] | undefined
  for (;;) {
    const elements = await readElements(context)
    if (elements.length === 0) break
    dust ??= await readDust(context)
    // Burning the root unbinds the queue from the registry.
    const registry = await findRegistry(context)
    const batches = batchesOf(elements, dust)
    for (let start = 0; start < batches.length; start += context.maxUnconfirmed) {
      const gone = await burn(context, batches.slice(start, start + context.maxUnconfirmed), registry)
      burned += gone
      context.step('elements-burned')
      context.log.info({ burned, of: elements.length }, `Burned ${burned} elements of the state queue`)
      // Somebody has spent an element: the list that was read is out of date.
      if (gone === 0) break
    }
    dust = undefined
  }
  return burned > 0
}

/** As few transactions as elements and dust fit into, but none without an element. */
function batchesOf(elements: readonly Utxo[], dust: readonly Utxo[]): readonly Batch[] {
  const count = Math.min(elements.length, Math.ceil((elements.length + dust.length) / maxBurnedElements))
  const size = dust.length === 0 ? maxBurnedElements : Math.ceil(elements.length / count)
  const room = maxBurnedElements - size
  return Array.from({ length: Math.ceil(elements.length / size) }, (_, n) => ({
    elements: elements.slice(n * size, (n + 1) * size),
    dust: dust.slice(n * room, (n + 1) * room),
  }))
}

/** Burns batches in a chain of transactions. Returns how many elements were burned. */
async function burn(
  context: SequencerContext,
  batches: readonly Batch[],
  registry: RegistryElement | undefined,
): Promise<number> {
  const { contracts } = context
  const { wallet } = administratorOf(context)
  const referenceScripts = await readReferenceScripts(context)
  const included = await sendChain(context, wallet, ({ length }) => {
    const batch = batches[length]
    if (batch === undefined) return undefined
    const { elements, dust } = batch
    const draftWith = (swept: readonly Utxo[]) =>
      burnElements(contracts, elements, registry, referenceScripts, swept)
    // Outputs that somebody left there must not keep the queue from being burned.
    return { spends: elements, draft: draftWith(dust), ...(dust.length > 0 && { otherwise: draftWith([]) }) }
  })
  return included.reduce((sum, _transaction, place) => sum + (batches[place]?.elements.length ?? 0), 0)
}

async function readElements({ layer1, contracts, signal }: SequencerContext): Promise<readonly Utxo[]> {
  const utxos = await layer1.utxosByPolicy(contracts.scripts.queue.policy, { signal })
  return allElements(readStateQueue(contracts, utxos))
}

/**
 * The dust at the queue's address; none if it cannot be read, because anybody can leave more there than a
 * provider lists.
 */
async function readDust({ layer1, contracts, signal, log }: SequencerContext): Promise<readonly Utxo[]> {
  try {
    return dustOf(contracts, await layer1.utxosAt(contracts.scripts.queue.addressText, { signal }))
  } catch (error) {
    if (!isLayer1Error(error)) throw error
    log.warn({ cause: error.kind }, 'The dust at the state queue cannot be read and stays there')
    return []
  }
}
