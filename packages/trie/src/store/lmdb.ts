import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { storeCorrupt, TrieError } from '../errors.js'
import { emptyRoot } from '../hash/memory.js'
import {
  decodeIds,
  decodeVersion,
  encodeIds,
  encodeVersion,
  type ObsoleteIds,
  obsoleteIds,
  type StoredVersion,
} from './lmdb-rows.js'
import type { NewVersion, TrieStore, WriteNode } from './store.js'

/** Options of {@link openLmdbStore}. */
interface LmdbStoreOptions {
  /** A folder for this trie only; created if it does not exist. */
  path: string
  /**
   * Leaves freeing the nodes of forgotten versions to `free`, so that an update does not take longer for it.
   * They are all over the file: freeing those of many versions together touches each of its pages once.
   * Default false.
   */
  freesLater?: boolean
}

/** The number of forgotten versions to free together: more save page writes, but take space. */
const freedTogether = 64

/** The version of the layout of rows and nodes. */
const formatVersion = 1

const genesis: StoredVersion = { sequence: 0, root: emptyRoot(), node: 0, size: 0, firstNode: 1, nextNode: 1 }

/**
 * Opens a store that keeps a trie in an LMDB folder. Each update is one transaction, on disk when the call
 * returns: a process that is killed leaves the trie as it was before or after an update, never in between.
 *
 * Nodes are numbered in the order in which they are written; their keys are neither their hashes nor their
 * positions in the trie. So an update is appended to the table in one piece, a node never belongs to two
 * histories, and undoing an update deletes a range.
 *
 * @throws TrieError `TRIE_STORE_CORRUPT` if the folder is damaged or holds something else
 * @example
 * const trie = createTrie({ store: openLmdbStore({ path: '.ratatosk/utxos' }) })
 */
export function openLmdbStore(options: LmdbStoreOptions): TrieStore {
  return openUndamaged(options.path, () => openStore(options))
}

/** An open folder: its tables, and what this process knows of them. */
interface Folder extends ReturnType<typeof openTables> {
  /** The number of changes so far: another one in the folder means that another process has written. */
  revision: number
  /** Oldest first. */
  versions: readonly StoredVersion[]
  /** The newest of them. */
  head: StoredVersion
  /** Nodes that are being freed, and the versions that superseded them. */
  freeing: { readonly nodes: ObsoleteIds; readonly sequences: readonly number[] } | undefined
}

function openStore({ path, freesLater = false }: LmdbStoreOptions): TrieStore {
  const folder: Folder = {
    ...openTables(path),
    revision: 0,
    versions: [],
    head: genesis,
    freeing: undefined,
  }
  const { root, nodes, rows, obsolete } = folder
  try {
    root.transactionSync(() => load(folder))
  } catch (error) {
    void root.close()
    throw error
  }

  return {
    get head() {
      return folder.head
    },

    get versions() {
      return folder.versions
    },

    read: (id) => read(nodes, id),

    commit(superseded, keep, write) {
      transact(folder, (sequence) => {
        const version = append(folder, sequence, folder.head.nextNode, write)
        obsolete.putSync(sequence, encodeIds(superseded))
        return forgetOldest(folder, [...folder.versions, version], keep, freesLater)
      })
    },

    replace(write) {
      folder.freeing = undefined
      transact(folder, (sequence) => {
        for (const table of [nodes, rows, obsolete]) table.clearSync()
        return [append(folder, sequence, 1, write)]
      })
    },

    undo(sequence) {
      transact(folder, () => {
        for (const undone of folder.versions.filter((version) => version.sequence > sequence)) {
          for (let id = undone.firstNode; id < undone.nextNode; id += 1) nodes.removeSync(id)
          obsolete.removeSync(undone.sequence)
          rows.removeSync(undone.sequence)
        }
        return folder.versions.filter((version) => version.sequence <= sequence)
      })
    },

    prune(keep) {
      transact(folder, () => forgetOldest(folder, folder.versions, keep, freesLater))
    },

    free: (limit) => free(folder, limit),

    close: () => root.close(),
  }
}

function openTables(path: string) {
  const root = open<unknown, string>({
    path,
    noSubdir: false,
    maxDbs: 4,
    // If true, a transaction would count as committed before it is on disk.
    overlappingSync: false,
  })
  return {
    root,
    nodes: root.openDB<Buffer, number>({ name: 'nodes', encoding: 'binary' }),
    rows: root.openDB<Buffer, number>({ name: 'versions', encoding: 'binary' }),
    obsolete: root.openDB<Buffer, number>({ name: 'superseded', encoding: 'binary' }),
    meta: root.openDB<number, string>({ name: 'meta' }),
  }
}

function load(folder: Folder): void {
  const { meta, nodes, rows } = folder
  const format = meta.get('format')
  if (format !== undefined && format !== formatVersion)
    throw storeCorrupt(`its format is ${format}, not ${formatVersion}`)
  // Also written if it is there, so that a file that cannot be written to is noticed while it is opened.
  meta.putSync('format', formatVersion)
  if (format === undefined) {
    meta.putSync('revision', 0)
    putVersion(folder, genesis)
  }
  folder.revision = meta.get('revision') ?? 0
  adopt(
    folder,
    Array.from(rows.getRange(), ({ key, value }) => decodeVersion(key, value)),
  )
  if (folder.head.node !== 0) read(nodes, folder.head.node)
}

function read(nodes: Folder['nodes'], id: number): Uint8Array {
  // A copy of each node took longer than its decoding.
  const bytes = nodes.getBinaryFast(id)
  if (bytes === undefined) throw storeCorrupt(`node ${id} is missing`)
  // `length` is the node's, and other methods go by that of the memory which the next one is read into.
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}

function adopt(folder: Folder, kept: readonly StoredVersion[]): void {
  const newest = kept.at(-1)
  if (newest === undefined) throw storeCorrupt('it has no version')
  folder.versions = kept
  folder.head = newest
}

/** Runs `change` as one transaction; it returns the versions that are kept afterwards. */
function transact(folder: Folder, change: (revision: number) => readonly StoredVersion[]): void {
  const next = folder.revision + 1
  const kept = folder.root.transactionSync(() => {
    // The newest version and the next free id in memory are right only if no other process has written.
    if (folder.meta.get('revision') !== folder.revision) {
      throw new TrieError('TRIE_STORE_CONFLICT', 'Another writer has changed the trie since it was opened')
    }
    folder.meta.putSync('revision', next)
    return change(next)
  })
  folder.revision = next
  adopt(folder, kept)
}

function putVersion({ rows }: Folder, version: StoredVersion): void {
  rows.putSync(version.sequence, encodeVersion(version))
}

function append(
  folder: Folder,
  sequence: number,
  firstNode: number,
  write: (write: WriteNode) => NewVersion,
): StoredVersion {
  let nextNode = firstNode
  const outcome = write((bytes) => {
    folder.nodes.putSync(nextNode, asBuffer(bytes), { append: true })
    nextNode += 1
    return nextNode - 1
  })
  const version = { ...outcome, sequence, firstNode, nextNode }
  putVersion(folder, version)
  return version
}

function forgetOldest(
  { rows, nodes, obsolete }: Folder,
  versions: readonly StoredVersion[],
  keep: number,
  freesLater: boolean,
): readonly StoredVersion[] {
  const cut = Math.max(0, versions.length - keep)
  for (const { sequence } of versions.slice(0, cut)) rows.removeSync(sequence)
  // Only the versions before it used what a version superseded.
  for (const { sequence } of freesLater ? [] : versions.slice(1, cut + 1)) {
    const row = obsolete.getBinary(sequence)
    if (row !== undefined) for (const id of decodeIds(row)) nodes.removeSync(id)
    obsolete.removeSync(sequence)
  }
  return versions.slice(cut)
}

/**
 * The nodes that the kept versions do not need: those superseded by the oldest of them, and before. Their
 * ids are below those of the oldest version, which cannot be undone, so no node gets one again.
 */
function startFreeing({ versions, obsolete }: Folder): Folder['freeing'] {
  const oldest = versions[0]?.sequence ?? 0
  const due = [...obsolete.getRange({ end: oldest + 1, limit: freedTogether })]
  if (due.length < freedTogether) return undefined
  return {
    nodes: obsoleteIds(due.map(({ value }) => Buffer.from(value))),
    sequences: due.map(({ key }) => key),
  }
}

/** Does a part of the work of freeing: sorts one row of ids, or removes nodes. */
function free(folder: Folder, limit: number): number {
  const present = folder.freeing ?? startFreeing(folder)
  if (present === undefined) return 0
  // If this fails, it begins anew, as after a crash: nodes that are gone already do no harm.
  folder.freeing = undefined
  if (!present.nodes.readRow()) {
    const ids = present.nodes.take(limit)
    transact(folder, () => {
      for (const id of ids) folder.nodes.removeSync(id)
      if (present.nodes.left === 0)
        for (const sequence of present.sequences) folder.obsolete.removeSync(sequence)
      return folder.versions
    })
  }
  const { left } = present.nodes
  if (left > 0) folder.freeing = present
  return left
}

/** The same bytes as a Buffer, without copying. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

// The layout of a meta page; of LMDB's two, the one of the later transaction holds.
const metaOffset = 24
const pageSizeOffset = metaOffset + 24
/** Of the tables of free pages and of tables. */
const rootOffsets = [metaOffset + 64, metaOffset + 112]
const noPage = 2n ** 64n - 1n
const lastPageOffset = metaOffset + 120
const transactionOffset = lastPageOffset + 8
const headLength = transactionOffset + 8
const magic = 0xbeefc0de
/** A file that lacks more pages than this at its end is damaged. */
const maxUnwrittenPages = 64n

/** Processors whose LMDB writes the layout above. */
const known = ['x64', 'arm64'].includes(process.arch)

/**
 * Opens an LMDB folder, which is created if it does not exist. LMDB maps its file and trusts it: a damaged
 * one would end the process without a message. So the file's meta pages are checked, and a marker shows
 * that two processes in a row have died while they opened the folder.
 *
 * @param open opens and reads it
 * @throws TrieError `TRIE_STORE_CORRUPT` if the folder is damaged
 */
export function openUndamaged<Opened>(path: string, open: () => Opened): Opened {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false)
    throw storeCorrupt('it is a file, not a folder')
  mkdirSync(path, { recursive: true })
  const marker = join(path, 'opening')
  // One may have been killed by chance.
  const deaths = existsSync(marker) ? Number(readFileSync(marker, 'utf8')) : 0
  if (deaths > 1) throw storeCorrupt('two processes have died while they opened the folder')
  if (known) checkFile(join(path, 'data.mdb'))
  writeFileSync(marker, String(deaths + 1))
  try {
    return open()
  } finally {
    rmSync(marker, { force: true })
  }
}

function checkFile(file: string): void {
  if (!existsSync(file)) return
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    // An empty file becomes a new store.
    if (size === 0) return
    const first = metaAt(descriptor, 0)
    const second = metaAt(descriptor, first.pageSize)
    const { lastPage, roots } = first.transaction > second.transaction ? first : second
    const missing = lastPage + 1n - BigInt(Math.floor(size / first.pageSize))
    // LMDB does not write pages at the end that a transaction took and freed.
    const isTail =
      size % first.pageSize === 0 &&
      missing <= maxUnwrittenPages &&
      roots.every((root) => root <= lastPage - missing)
    if (missing > 0n && !isTail) throw storeCorrupt('its file is cut off')
  } finally {
    closeSync(descriptor)
  }
}

function metaAt(descriptor: number, offset: number) {
  const page = Buffer.alloc(headLength)
  readSync(descriptor, page, 0, headLength, offset)
  if (page.readUInt32LE(metaOffset) !== magic) throw storeCorrupt('the beginning of its file is damaged')
  return {
    pageSize: page.readUInt32LE(pageSizeOffset),
    lastPage: page.readBigUInt64LE(lastPageOffset),
    roots: rootOffsets.map((offset) => page.readBigUInt64LE(offset)).filter((root) => root !== noPage),
    transaction: page.readBigUInt64LE(transactionOffset),
  }
}
