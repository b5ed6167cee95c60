import type { Store } from '@ratatosk/store'
import type { StatusSources } from '@ratatosk/submit/status'
import type { Node } from '../node.js'
import { maturityOf } from './state-queue.js'

/** The sources of `/tx/status`, `/submission` and the search of submissions. */
export function statusSources(
  node: Pick<Node, 'store' | 'reads' | 'replica' | 'submissions' | 'settlement'>,
): StatusSources {
  const { submissions, settlement } = node
  const one = async <T>(read: (store: Store) => Promise<T | undefined>): Promise<T | undefined> =>
    (await readAll(node, async (store) => [await read(store)]))[0]
  return {
    ...maturityOf(settlement),
    ledger: {
      placeOf: (id) => one((store) => store.placeOf(id)),
      placesOf: (ids) => readAll(node, (store) => store.placesOf(ids)),
    },
    rejections: {
      find: (id) => one((store) => store.rejections.find(id)),
      findTransaction: (id) => one((store) => store.rejections.findTransaction(id)),
    },
    queue: submissions,
    removals: {
      ofTransaction: async (id) => {
        const removals = await one(async (store) => {
          const found = await store.resubmissions.ofTransaction(id)
          return found.length > 0 ? found : undefined
        })
        return removals ?? []
      },
    },
  }
}

/**
 * Reads the replica. It may not show yet where a transaction went that has left the queue: if it lacks some,
 * the primary is asked, and the replica once more when it shows as much.
 */
async function readAll<T>(
  { store, reads, replica }: Pick<Node, 'store' | 'reads' | 'replica'>,
  read: (store: Store) => Promise<readonly (T | undefined)[]>,
): Promise<readonly (T | undefined)[]> {
  const shown = await read(reads)
  if (replica === undefined || !shown.includes(undefined)) return shown
  const known = await read(store)
  if (known.every((each, n) => (each === undefined) === (shown[n] === undefined))) return shown
  await replica.caughtUp()
  const now = await read(reads)
  return known.map((each, n) => now[n] ?? each)
}
