import { mkdirSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Programs } from './programs.js'

/** The contents of a cluster: folders before their entries, and files with their sizes in bytes. */
type Index = readonly (readonly [path: string, size?: number])[]

/** Bytes of the index' length, before the index. */
const lengthBytes = 4

/** Where the files of a new cluster of these programs are, in one file; the build makes it. */
export function templateOf({ build }: Programs): string {
  return fileURLToPath(new URL(`../../bundle/empty-${build}`, import.meta.url))
}

/** The files of a cluster that no server uses. */
export async function pack(folder: string): Promise<Uint8Array> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .map((entry) => ({ path: join(entry.parentPath, entry.name), isFile: entry.isFile() }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
  const contents = await Promise.all(entries.map(({ path, isFile }) => (isFile ? readFile(path) : undefined)))
  const index: Index = entries.map(({ path }, i) => {
    const size = contents[i]?.length
    return size === undefined ? [relative(folder, path)] : [relative(folder, path), size]
  })
  const head = Buffer.from(JSON.stringify(index))
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, ...contents.filter((each) => each !== undefined)])
}

/** Writes the thousand files to a folder one after the other: promises take three times the CPU time. */
export function unpack(packed: Buffer, folder: string): void {
  let end = lengthBytes + packed.readUInt32BE()
  const index: Index = JSON.parse(packed.toString('utf8', lengthBytes, end))
  for (const [path, size] of index) {
    if (size === undefined) mkdirSync(join(folder, path), { mode: 0o700 })
    else writeFileSync(join(folder, path), packed.subarray(end, end + size), { mode: 0o600 })
    end += size ?? 0
  }
}
