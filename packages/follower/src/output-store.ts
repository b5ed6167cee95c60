import { setImmediate as pause } from 'node:timers/promises'
import { openUndamaged } from '@ratatosk/trie/lmdb'
import { open } from 'lmdb'

/**
 * CBOR of outputs by the CBOR of their references. Outputs never change: writes are idempotent, a crash
 * leaves nothing inconsistent, and spent ones may remain. The output trie determines which are unspent.
 */
export interface OutputStore {
  /** Whether the store has every output that the trie beside it holds. */
  readonly isComplete: boolean
  get(outref: Uint8Array): Uint8Array | undefined
  /** Deletes outputs, then adds others, durably; other work runs meanwhile. */
  update(
    deleted: Iterable<Uint8Array>,
    outputs: Iterable<readonly [outref: Uint8Array, output: Uint8Array]>,
  ): Promise<void>
  /** Replaces all outputs and sets `isComplete`. */
  replace(outputs: Iterable<readonly [outref: Uint8Array, output: Uint8Array]>): void
  close(): Promise<void>
}

/** Outputs in an LMDB folder. @throws TrieError `TRIE_STORE_CORRUPT` if the folder is damaged */
export function openOutputStore(path: string): OutputStore {
  return openUndamaged(path, () => openFolder(path))
}

function openFolder(path: string): OutputStore {
  const root = open({ path, noSubdir: false, maxDbs: 2, overlappingSync: false })
  const outputs = root.openDB<Buffer, Buffer>({ name: 'outputs', encoding: 'binary', keyEncoding: 'binary' })
  const meta = root.openDB<boolean, string>({ name: 'meta' })
  const put = (entries: Iterable<readonly [Uint8Array, Uint8Array]>): void => {
    for (const [outref, output] of entries) outputs.putSync(asBuffer(outref), asBuffer(output))
  }
  return {
    get isComplete() {
      return meta.get('complete') ?? false
    },
    get: (outref) => outputs.get(asBuffer(outref)),
    async update(deleted, entries) {
      for (const part of partsOf(deleted)) {
        root.transactionSync(() => {
          for (const outref of part) outputs.removeSync(asBuffer(outref))
        })
        await pause()
      }
      for (const part of partsOf(entries)) {
        root.transactionSync(() => put(part))
        await pause()
      }
    },
    replace: (entries) =>
      root.transactionSync(() => {
        outputs.clearSync()
        put(entries)
        meta.putSync('complete', true)
      }),
    close: () => root.close(),
  }
}

/** The items in lists of what one transaction changes: a block of 10,000 transfers takes two. */
function* partsOf<Item>(items: Iterable<Item>): Generator<readonly Item[], void> {
  let part: Item[] = []
  for (const item of items) {
    part.push(item)
    if (part.length < 16_384) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

export function createMemoryOutputs(): OutputStore {
  const outputs = new Map<string, Uint8Array>()
  const keyOf = (outref: Uint8Array): string => asBuffer(outref).toString('latin1')
  let isComplete = false
  function put(entries: Iterable<readonly [outref: Uint8Array, output: Uint8Array]>): void {
    // A copy: the bytes are views of a whole body.
    for (const [outref, output] of entries) outputs.set(keyOf(outref), Uint8Array.from(output))
  }
  return {
    get isComplete() {
      return isComplete
    },
    get: (outref) => outputs.get(keyOf(outref)),
    async update(deleted, entries) {
      for (const outref of deleted) outputs.delete(keyOf(outref))
      put(entries)
    },
    replace(entries) {
      outputs.clear()
      put(entries)
      isComplete = true
    },
    async close() {
      outputs.clear()
    },
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
