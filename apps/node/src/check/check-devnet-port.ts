import type { NodeContext } from '../context.js'
import { isStartError } from '../errors.js'
import { hostOf } from '../layer1/open-layer1.js'
import { checkPlace } from '../server/listen.js'
import { about, type NodeFinding } from './finding.js'

const { ok, failed } = about('devnet port')

/**
 * Whether this process can host the devnet of all processes on one PostgreSQL at DEVNET_PORT. The port of a
 * devnet of its own is checked with PORT.
 */
export async function checkDevnetPort({ settings, duties }: NodeContext): Promise<readonly NodeFinding[]> {
  const { HOST: host, DEVNET_PORT: port, DATABASE_URL, LAYER1_PROVIDER } = settings
  const mayHost = duties.sequences && LAYER1_PROVIDER === 'devnet' && DATABASE_URL !== undefined
  if (port === undefined || !mayHost) return []
  try {
    await checkPlace({ host, port, setting: 'DEVNET_PORT' })
    return [ok(port === 0 ? `a free port of ${host}` : `port ${port} of ${host} is free`)]
  } catch (error) {
    if (!isStartError(error)) throw error
    const host = await hostOf({ url: DATABASE_URL, schema: settings.DATABASE_SCHEMA })
    return host?.endsWith(`:${port}`)
      ? [ok(`a process of this database hosts the devnet at port ${port}, and this one would stand by`)]
      : [failed(error.message)]
  }
}
