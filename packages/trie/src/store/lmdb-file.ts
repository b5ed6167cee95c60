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
import { storeCorrupt } from '../errors.js'

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
