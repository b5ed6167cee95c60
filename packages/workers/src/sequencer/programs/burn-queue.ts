import { allElements, burnElements, MAX_BURNED_ELEMENTS, readStateQueue, type Utxo } from '@ratatosk/layer1'
import { libraryOf } from '../life/library.js'
import type { Work } from '../life/work.js'
import { carry } from './carry.js'

/**
 * Burns every element of the queue, roots first, so that nothing is appended meanwhile.
 *
 * @returns whether there was any
 */
export async function burnQueue(work: Work): Promise<boolean> {
  const { administrator, contracts, log } = work
  let burned = 0
  for (;;) {
    const elements = await elementsOf(work)
    if (elements.length === 0) return burned > 0
    const some = elements.slice(0, MAX_BURNED_ELEMENTS)
    const draft = burnElements(contracts, some, await libraryOf(work))
    const gone = async () => {
      const found = await work.layer1.utxosByReferences(
        some.map(({ reference }) => reference),
        { signal: work.signal },
      )
      // Somebody has spent one: what is left is read again.
      return found.length < some.length
    }
    await carry(work, administrator, draft, gone)
    work.step('elements-burned')
    burned += some.length
    log.info({ burned }, `${burned} elements of the state queue burned`)
  }
}

async function elementsOf({ layer1, contracts, signal }: Work): Promise<readonly Utxo[]> {
  const utxos = await layer1.utxosAt(contracts.queue.addressText, { signal })
  return allElements(readStateQueue(contracts, utxos))
}
