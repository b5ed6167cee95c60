import { createReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlockError, Evidence, InvalidBlockReport, NewArchivedBlock } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { FollowerError } from './errors.js'

/** Options of {@link openEvidence}. */
export interface EvidenceOptions {
  /** Created when it is needed; nothing else may be in it. */
  readonly dir: string
  /** The size limit of the folder; the oldest evidence goes first. */
  readonly maxBytes: number
}

/** A folder of invalid blocks. */
export interface EvidenceFolder extends Evidence {
  /**
   * Keeps an invalid block until the folder needs the room.
   *
   * @param error the broken rule
   * @returns path of the report; undefined if the block alone is larger than the folder may be
   */
  keep(block: NewArchivedBlock, error: BlockError): Promise<string | undefined>
  /** Keeps the body of a valid block that cannot be archived; not if it alone is too large. */
  keepBody(headerHash: Uint8Array, body: Uint8Array): Promise<void>
}

/** A body in the folder, with its report if the block is invalid. */
interface Kept {
  readonly name: string
  readonly bytes: number
  readonly isReported: boolean
}

/** The part of a report that is read. */
interface Report {
  readonly height: number
  readonly header: string
  readonly reason: string
  readonly position?: number
  readonly foundAt: string
}

/**
 * Opens a folder of invalid blocks: the body of each is in `<header hash>.body.cbor`, its header and the
 * broken rule in `<header hash>.json`.
 *
 * @example
 * const evidence = openEvidence({ dir: './data/invalid-blocks', maxBytes: 1024 ** 3 })
 * const follower = await createFollower({ ...options, evidence })
 * const [newest] = await evidence.list(1)
 */
export function openEvidence(options: EvidenceOptions): EvidenceFolder {
  const { dir, maxBytes } = options
  return {
    async keep({ headerHash, height, header, body }, error) {
      const { message, position, reference, failures } = error
      const name = toHex(headerHash)
      const report = {
        headerHash: name,
        height: Number(height),
        header: toHex(header),
        reason: message,
        position,
        reference,
        failures,
        foundAt: new Date().toISOString(),
      }
      const text = `${JSON.stringify(report, undefined, 2)}\n`
      const bytes = body.length + Buffer.byteLength(text)
      if (bytes > maxBytes) return undefined
      await makeRoom(options, bytes)
      // The body first: a report is listed only with its body.
      await write(bodyIn(dir, name), body)
      await write(reportIn(dir, name), text)
      return reportIn(dir, name)
    },

    async keepBody(headerHash, body) {
      if (body.length > maxBytes) return
      await makeRoom(options, body.length)
      await write(bodyIn(dir, toHex(headerHash)), body)
    },

    async list(limit) {
      const newest = (await keptIn(dir)).filter(({ isReported }) => isReported).slice(0, limit)
      const reports = await Promise.all(newest.map(({ name }) => read(dir, name)))
      return reports.filter((report) => report !== undefined)
    },

    byHash: (headerHash) => read(dir, toHex(headerHash)),

    async *body(headerHash) {
      const name = toHex(headerHash)
      const path = bodyIn(dir, name)
      if ((await stat(path).catch(absent)) === undefined)
        throw new FollowerError('FOLLOWER_NO_EVIDENCE', `The body of block ${name} is not kept`)
      yield* createReadStream(path)
    },
  }
}

const bodyIn = (dir: string, name: string): string => join(dir, `${name}.body.cbor`)
const reportIn = (dir: string, name: string): string => join(dir, `${name}.json`)

/** Names and bytes of what is kept, the newest first. */
async function keptIn(dir: string): Promise<readonly Kept[]> {
  const files = await readdir(dir).catch(absent)
  const names = (files ?? []).flatMap((file) => /^([0-9a-f]{56})\.body\.cbor$/.exec(file)?.[1] ?? [])
  const found = await Promise.all(
    names.map(async (name) => {
      const report = await stat(reportIn(dir, name)).catch(absent)
      const body = await stat(bodyIn(dir, name)).catch(absent)
      if (!body) return []
      const { mtimeMs: at } = report ?? body
      return [{ name, bytes: (report?.size ?? 0) + body.size, at, isReported: report !== undefined }]
    }),
  )
  return found.flat().sort((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1))
}

async function read(dir: string, name: string): Promise<InvalidBlockReport | undefined> {
  const text = await readFile(reportIn(dir, name), 'utf8').catch(absent)
  if (text === undefined) return undefined
  const { height, header, reason, position, foundAt } = JSON.parse(text) as Report
  return {
    headerHash: fromHex(name),
    height: BigInt(height),
    header: fromHex(header),
    merged: false,
    reason,
    ...(position !== undefined && { position }),
    foundAt: new Date(foundAt),
  }
}

/**
 * Removes the oldest until the rest and the new bytes fit. The report goes first: without it, a body is not
 * listed.
 */
async function makeRoom({ dir, maxBytes }: EvidenceOptions, bytes: number): Promise<void> {
  await mkdir(dir, { recursive: true })
  for (const file of (await readdir(dir)).filter((each) => each.endsWith('.tmp')))
    await rm(join(dir, file), { force: true })
  let room = maxBytes - bytes
  for (const { name, bytes: taken } of await keptIn(dir)) {
    room -= taken
    if (room >= 0) continue
    await rm(reportIn(dir, name), { force: true })
    await rm(bodyIn(dir, name), { force: true })
  }
}

/** Nothing where a file or folder does not exist. */
function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** Writes atomically: a reader never sees a partial file. */
async function write(path: string, content: Uint8Array | string): Promise<void> {
  await writeFile(`${path}.tmp`, content)
  await rename(`${path}.tmp`, path)
}
