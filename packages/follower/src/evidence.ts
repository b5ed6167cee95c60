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

interface Report {
  readonly headerHash: string
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
export function openEvidence({ dir, maxBytes }: EvidenceOptions): EvidenceFolder {
  const bodyOf = (name: string): string => join(dir, `${name}.body.cbor`)
  const reportOf = (name: string): string => join(dir, `${name}.json`)

  /** Names and bytes of what is kept, the newest first. */
  async function kept(): Promise<readonly Kept[]> {
    const files = await readdir(dir).catch(absent)
    const names = (files ?? []).flatMap((file) => /^([0-9a-f]{56})\.body\.cbor$/.exec(file)?.[1] ?? [])
    const found = await Promise.all(
      names.map(async (name) => {
        const report = await stat(reportOf(name)).catch(absent)
        const body = await stat(bodyOf(name)).catch(absent)
        if (!body) return []
        const { mtimeMs: at } = report ?? body
        return [{ name, bytes: (report?.size ?? 0) + body.size, at, isReported: report !== undefined }]
      }),
    )
    return found.flat().sort((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1))
  }

  async function read(name: string): Promise<InvalidBlockReport | undefined> {
    const text = await readFile(reportOf(name), 'utf8').catch(absent)
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
  async function makeRoom(bytes: number): Promise<void> {
    for (const file of (await readdir(dir)).filter((each) => each.endsWith('.tmp')))
      await rm(join(dir, file), { force: true })
    let room = maxBytes - bytes
    for (const { name, bytes: taken } of await kept()) {
      room -= taken
      if (room >= 0) continue
      await rm(reportOf(name), { force: true })
      await rm(bodyOf(name), { force: true })
    }
  }

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
      await mkdir(dir, { recursive: true })
      await makeRoom(bytes)
      // The body first: a report is listed only with its body.
      await write(bodyOf(name), body)
      await write(reportOf(name), text)
      return reportOf(name)
    },

    async keepBody(headerHash, body) {
      if (body.length > maxBytes) return
      await mkdir(dir, { recursive: true })
      await makeRoom(body.length)
      await write(bodyOf(toHex(headerHash)), body)
    },

    async list(limit) {
      const newest = (await kept()).filter(({ isReported }) => isReported).slice(0, limit)
      const reports = await Promise.all(newest.map(({ name }) => read(name)))
      return reports.filter((report) => report !== undefined)
    },

    byHash: (headerHash) => read(toHex(headerHash)),

    async *body(headerHash) {
      const name = toHex(headerHash)
      if ((await stat(bodyOf(name)).catch(absent)) === undefined)
        throw new FollowerError('FOLLOWER_NO_EVIDENCE', `The body of block ${name} is not kept`)
      yield* createReadStream(bodyOf(name))
    },
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
