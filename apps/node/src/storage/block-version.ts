import { blockVersion, decodeHeader } from '@ratatosk/block'
import type { Store } from '@ratatosk/store'
import { StartError } from '../errors.js'

/**
 * Refuses a database with blocks of another block version: their roots mean something else, so nothing can
 * be built on them.
 *
 * @throws StartError `NODE_DATABASE`, with what to do
 */
export async function checkBlockVersion({
  blocks,
  archive,
}: {
  readonly blocks: Pick<Store['blocks'], 'newest'>
  readonly archive: Pick<Store['archive'], 'tip'>
}): Promise<void> {
  const anew = 'begin anew with another DATABASE_SCHEMA or, if DATABASE_URL is not set, another DATA_DIR'
  const block = versionOf((await blocks.newest())?.header)
  if (block !== blockVersion)
    throw new StartError(
      'NODE_DATABASE',
      `The database holds blocks of block version ${block}, and this node has version ` +
        `${blockVersion}: either ${anew}, or start the node that made them, empty the database with ` +
        'POST /reset, and update again.',
    )
  const archived = versionOf((await archive.tip())?.header)
  if (archived !== blockVersion)
    throw new StartError(
      'NODE_DATABASE',
      `The archive holds blocks of block version ${archived}, and this node has version ` +
        `${blockVersion}: ${anew}.`,
    )
}

function versionOf(header: Uint8Array | undefined): bigint {
  return header === undefined ? blockVersion : decodeHeader(header).blockVersion
}
