import { decodeHeader, protocolVersion } from '@ratatosk/block'
import type { Store } from '@ratatosk/store'
import { StartError } from '../errors.js'

/**
 * Refuses a database with blocks of another protocol version: their roots mean something else, so nothing can
 * be built on them.
 *
 * @throws StartError `NODE_DATABASE`, with what to do
 */
export async function checkProtocolVersion({
  blocks,
  archive,
}: {
  readonly blocks: Pick<Store['blocks'], 'newest'>
  readonly archive: Pick<Store['archive'], 'tip'>
}): Promise<void> {
  const anew = 'begin anew with another DATABASE_SCHEMA or, if DATABASE_URL is not set, another DATA_DIR'
  const block = versionOf((await blocks.newest())?.header)
  if (block !== protocolVersion)
    throw new StartError(
      'NODE_DATABASE',
      `The database holds blocks of protocol version ${block}, and this node has version ` +
        `${protocolVersion}: either ${anew}, or start the node that made them, empty the database with ` +
        'POST /reset, and update again.',
    )
  const archived = versionOf((await archive.tip())?.header)
  if (archived !== protocolVersion)
    throw new StartError(
      'NODE_DATABASE',
      `The archive holds blocks of protocol version ${archived}, and this node has version ` +
        `${protocolVersion}: ${anew}.`,
    )
}

function versionOf(header: Uint8Array | undefined): bigint {
  return header === undefined ? protocolVersion : decodeHeader(header).protocolVersion
}
