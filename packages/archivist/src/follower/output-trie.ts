import { mkdirSync } from 'node:fs'
import { decodeHeader, type Header } from '@ratatosk/contracts'
import { encodeOutputReference, equalBytes } from '@ratatosk/ledger'
import { createMemoryStore, createTrie, type Entry, openLmdbStore, TrieError } from '@ratatosk/trie'
import { BlockError } from '../body/errors.js'
import type { BlockDiff } from '../body/types.js'
import { diffOperations } from '../body/verify.js'
import { rebuildUtxos } from './rebuild-utxos.js'
import type { GenesisOutput, Log, WritableArchive } from './types.js'

/**
 * States that can be gone back to at once; more of them means to build the trie anew. No batch that is archived at a time is larger.
 */
const trieHistory = 64

/** The unspent outputs as headers see them: `outref → output`. */
export interface OutputTrie {
  /**
   * Steps to the state after a block.
   *
   * @throws {BlockError} `BLOCK_INVALID` where that is not the one that its header says; then nothing has changed
   */
  apply(diff: BlockDiff, header: Header): void
  /** Goes to the state after the newest block of the archive, from wherever a crash or a removal has left it. */
  align(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export interface OutputTrieOptions {
  readonly archive: WritableArchive
  readonly genesis: readonly GenesisOutput[]
  /** In memory without one. */
  readonly dir: string | undefined
  readonly log: Log
}

export async function openOutputTrie({ archive, genesis, dir, log }: OutputTrieOptions): Promise<OutputTrie> {
  const genesisRoot = await rootOf(genesis)
  if (dir !== undefined) mkdirSync(dir, { recursive: true })
  const store = dir === undefined ? createMemoryStore() : openLmdbStore({ path: dir })
  const trie = createTrie({ store, history: trieHistory })

  async function rebuild(height: bigint, root: Uint8Array, signal: AbortSignal): Promise<void> {
    if (height > 0n) log.info({ height: Number(height) }, 'Building the trie of unspent outputs from bodies')
    const utxos = await rebuildUtxos({ archive, genesis, height, signal })
    const entries = function* (): Generator<Entry, void> {
      for (const [outref, output] of utxos) yield [Buffer.from(outref, 'hex'), output]
    }
    if (!equalBytes(await trie.rebuild(entries()), root))
      throw new Error(
        `The bodies up to block ${height} do not lead to its root: the archive or the genesis outputs changed`,
      )
  }

  return {
    apply(diff, header) {
      if (!equalBytes(trie.root, header.prevUtxosRoot)) {
        throw new BlockError(
          'BLOCK_INVALID',
          equalBytes(trie.root, genesisRoot)
            ? 'It does not begin with the genesis outputs that were given'
            : 'It does not begin with the state after the block before it',
        )
      }
      const operations = [...diffOperations(diff)]
      if (operations.length > 0) step(operations)
      if (equalBytes(trie.root, header.utxosRoot)) return
      if (operations.length > 0) trie.undo()
      throw new BlockError('BLOCK_INVALID', 'It does not lead to the UTxO root of its header')
    },

    async align(signal) {
      const tip = await archive.tip()
      const root = tip === undefined ? genesisRoot : decodeHeader(tip.header).utxosRoot
      if (equalBytes(trie.root, root)) return
      if (trie.roots.some((kept) => equalBytes(kept, root))) trie.revert(root)
      else await rebuild(tip?.height ?? 0n, root, signal)
    },

    close: () => trie.close(),
  }

  function step(operations: Parameters<typeof trie.update>[0]): void {
    try {
      trie.update(operations)
    } catch (error) {
      if (!(error instanceof TrieError) || !/^TRIE_KEY_/.test(error.code)) throw error
      throw new BlockError('BLOCK_INVALID', 'It spends what is not there, or makes what is there already', {
        cause: error,
      })
    }
  }
}

async function rootOf(genesis: readonly GenesisOutput[]): Promise<Uint8Array> {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  await trie.rebuild(
    genesis.map(({ reference, output }): Entry => [encodeOutputReference(reference), output]),
  )
  const root = Uint8Array.from(trie.root)
  await trie.close()
  return root
}
