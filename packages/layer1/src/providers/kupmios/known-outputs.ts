import type { Utxo } from '@ratatosk/ledger'
import { LRUCache } from 'lru-cache'

/** The memory that an output takes beside its bytes. */
const overhead = 3000
/** About 80,000 outputs of the size of a question, which lock 200,000 ada. */
const maxListBytes = 256 * 1024 * 1024
/** A flooded list leaves room for others. */
const maxBytes = 1.5 * maxListBytes

interface Known {
  readonly outputs: ReadonlyMap<string, Utxo | undefined>
  readonly size: number
}

/** The outputs that the last reads of lists found: an output never changes. */
export interface KnownOutputs {
  /** The outputs of a list, by reference; undefined for those that were left out. */
  of(list: string): ReadonlyMap<string, Utxo | undefined>
  /** Replaces the outputs of a list, of which as many as fit are kept. */
  keep(list: string, outputs: Iterable<readonly [reference: string, utxo: Utxo | undefined]>): void
}

const none: ReadonlyMap<string, Utxo | undefined> = new Map()

export function createKnownOutputs(): KnownOutputs {
  const lists = new LRUCache<string, Known>({ maxSize: maxBytes, sizeCalculation: ({ size }) => size })
  return {
    of: (list) => lists.get(list)?.outputs ?? none,
    keep(list, found) {
      const outputs = new Map<string, Utxo | undefined>()
      let size = overhead
      for (const [reference, utxo] of found) {
        size += overhead + (utxo?.output.bytes.length ?? 0)
        if (size > maxListBytes) break
        outputs.set(reference, utxo)
      }
      if (outputs.size === 0) lists.delete(list)
      else lists.set(list, { outputs, size: Math.min(size, maxListBytes) })
    },
  }
}
