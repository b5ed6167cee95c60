import { equalBytes } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import type { AccusedBlock } from '../accused-block.js'
import type { LedgerFraudProof } from '../ledger-proofs.js'
import type { Difference } from './compare.js'

/** About 10 ms of hashing. */
const entriesBetweenPauses = 4096

/**
 * The proof that the outputs after a block do not follow, from a difference between them and the true ones.
 *
 * @param pause awaited at intervals: the key of an entry of the transactions map is found by its hash
 */
export async function claimOutput(
  block: Pick<AccusedBlock, 'map' | 'before' | 'entriesOfMap'>,
  { path, posted }: Difference,
  pause: () => Promise<void>,
): Promise<LedgerFraudProof> {
  const { hash, proof } = block.map.openPath(path)
  const record = hash && (await valueAt(block, path, pause))
  return {
    fraud: 'wrongOutputsAfter',
    path,
    output: { ...(record && { record }), proof },
    ...(hash === undefined && { before: block.before.openPath(path) }),
    after: posted,
  }
}

async function valueAt(
  block: Pick<AccusedBlock, 'entriesOfMap'>,
  path: Uint8Array,
  pause: () => Promise<void>,
): Promise<Uint8Array> {
  let read = 0
  for (const [key, value] of block.entriesOfMap()) {
    if (++read % entriesBetweenPauses === 0) await pause()
    if (equalBytes(blake2b256(key), path)) return value
  }
  throw new RangeError('The transactions map has an entry whose key is not known')
}
