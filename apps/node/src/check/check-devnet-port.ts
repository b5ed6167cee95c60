import type { NodeContext } from '../context.js'
import { isStartError } from '../errors.js'
import { hostOf } from '../layer1/open-layer1.js'
import { checkPlace } from '../server/listen.js'
import { about, type NodeFinding } from './finding.js'

const { ok, warning, failed } = about('devnet port')

/**
 * Whether this process can host the devnet of all processes on one PostgreSQL at DEVNET_PORT. The port of a
 * devnet of its own is checked with PORT.
 */
export async function checkDevnetPort({ settings, duties }: NodeContext): Promise<readonly NodeFinding[]> {
  const { HOST: host, DEVNET_PORT: port, DATABASE_URL, LAYER1_PROVIDER } = settings
  const mayHost = duties.sequences && LAYER1_PROVIDER === 'devnet' && DATABASE_URL !== undefined
  if (port === undefined || !mayHost) return []
  const hosted = await hostOf({ url: DATABASE_URL, schema: settings.DATABASE_SCHEMA })
  if (hosted?.endsWith(`:${port}`))
    return [ok(`a process of this database hosts the devnet at port ${port}, and this one would stand by`)]
  try {
    await checkPlace({ host, port, setting: 'DEVNET_PORT' })
  } catch (error) {
    if (!isStartError(error)) throw error
    return [failed(error.message)]
  }
  if (hosted === undefined)
    return [ok(port === 0 ? `a free port of ${host}` : `port ${port} of ${host} is free`)]
  return [
    warning(
      `DEVNET_PORT is ${port}, but a process of this database hosts the devnet at ${hosted}: when this one ` +
        'takes over, archivists and watchers lose it. Set the same port.',
    ),
  ]
}
