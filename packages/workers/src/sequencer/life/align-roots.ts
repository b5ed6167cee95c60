import { decodeHeader } from '@ratatosk/contracts'
import { equalBytes } from '@ratatosk/ledger'
import type { Block, UnspentOutput } from '@ratatosk/store'
import type { Work } from './work.js'

/** Outputs between two lines in the log. */
const progressEvery = 200_000

/**
 * Brings the trie of outputs to the state after a block: leaves it, goes back, or rebuilds it from the ledger.
 *
 * @param newest the store's newest block; undefined where it has none
 */
export async function alignRoots(work: Work, newest: Block | undefined): Promise<void> {
  const { roots, memory, log } = work
  const wanted = newest?.utxosRoot ?? memory.genesisRoot
  const present = await roots.root()
  if (wanted !== undefined) {
    if (equalBytes(present, wanted)) return
    if (await roots.revert(wanted)) {
      work.step('roots-aligned')
      return
    }
  }
  const begun = performance.now()
  const rebuilt = await roots.rebuild(withProgress(work))
  work.step('roots-aligned')
  if (newest === undefined) memory.genesisRoot = rebuilt
  const ms = Math.round(performance.now() - begun)
  if (ms > 1000) log.info({ ms }, `the trie of outputs was rebuilt from the ledger in ${ms} ms`)
  if (wanted === undefined || equalBytes(rebuilt, wanted)) return
  throw new Error(
    `The ledger's outputs do not give the root of block ${newest?.height ?? 0}: the database was changed behind the node`,
  )
}

/** The root of the outputs before a block. */
export const rootBefore = ({ header }: Block): Uint8Array => decodeHeader(header).prevUtxosRoot

async function* withProgress({ store, log }: Work): AsyncIterable<readonly UnspentOutput[]> {
  let read = 0
  for await (const piece of store.blocks.utxosAfterNewest()) {
    yield piece
    const before = read
    read += piece.length
    if (Math.floor(read / progressEvery) > Math.floor(before / progressEvery)) {
      log.info({ outputs: read }, `rebuilding the trie of outputs from the ledger: ${read} so far`)
    }
  }
}
