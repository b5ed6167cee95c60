import type { TrieEntry } from '@ratatosk/trie'
import type { AppliedTransactions } from './applied-transactions.js'
import { type ChunkRecord, chunkKey, encodeChunkRecord } from './chunks.js'
import type { OutputTable } from './output-table.js'
import { decodeTransactionRecord, encodeOutputRecord, outputRecordLength, transactionKey } from './records.js'
import type { DerivedBlock, DerivedOutput } from './types.js'

/** The transactions map of a block whose records are complete. */
export function derivedBlock(
  outputs: OutputTable,
  applied: AppliedTransactions,
  chunks: readonly ChunkRecord[],
): DerivedBlock {
  function* moved(): Generator<DerivedOutput, void> {
    for (let output = 0; output < outputs.size; output++)
      if (outputs.isMoved(output)) yield outputs.derived(output)
  }

  function* chunkEntries(): Generator<TrieEntry, void> {
    for (const [number, chunk] of chunks.entries()) yield [chunkKey(number), encodeChunkRecord(chunk)]
  }

  return {
    get transactions() {
      return Array.from({ length: applied.size }, (_, position) =>
        decodeTransactionRecord(applied.record(position)),
      )
    },

    chunks,

    outputs: {
      get(key) {
        const output = outputs.find(key)
        return output !== undefined && outputs.isMoved(output) ? outputs.derived(output) : undefined
      },
      values: moved,
    },

    *entries(): Generator<TrieEntry, void> {
      for (let position = 0; position < applied.size; position++)
        yield [transactionKey(position), applied.record(position).slice()]
      yield* chunkEntries()
      for (const output of moved()) yield [output.outref, encodeOutputRecord(output)]
    },

    *sharedEntries(): Generator<TrieEntry, void> {
      // Views of a larger buffer, which native code reads without moving them first.
      const memory = new Uint8Array(1024)
      const [key, record] = [memory.subarray(0, 8), memory.subarray(8, 8 + outputRecordLength)]
      for (let position = 0; position < applied.size; position++)
        yield [transactionKey(position, key), applied.record(position)]
      yield* chunkEntries()
      for (let output = 0; output < outputs.size; output++)
        if (outputs.isMoved(output))
          yield [
            outputs.outref(output),
            encodeOutputRecord(outputs.derived(output), record),
            outputs.knownPath(output),
          ]
    },
  }
}
