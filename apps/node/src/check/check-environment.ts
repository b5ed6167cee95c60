import { pino } from 'pino'
import { loadContext, type NodeContext } from '../context.js'
import { isSettingsError, isStartError } from '../errors.js'
import { contractsOf } from '../layer1/settlement.js'
import { checkAddress } from '../server/listen.js'
import type { Settings } from '../settings/schema.js'
import { clockFinding } from './clock.js'
import { checkDataDirectory } from './data-directory.js'
import { about, type Inspection, type NodeFinding } from './finding.js'
import { inspectLayer1 } from './layer1.js'
import { inspectPostgres } from './postgres.js'
import { checkRedis } from './redis.js'

export interface CheckOptions {
  /** Current time in POSIX milliseconds. Default: `Date.now`. */
  readonly clock?: () => number
}

/**
 * Checks everything that a node with these settings needs. It creates and changes nothing.
 *
 * @returns one finding or more for each part, in the order in which a start would need them
 *
 * @example
 * for (const { subject, status, message } of await checkEnvironment(readSettings(process.env)))
 *   console.log(status, subject, message)
 */
export async function checkEnvironment(
  settings: Settings,
  { clock = Date.now }: CheckOptions = {},
): Promise<readonly NodeFinding[]> {
  const port = await checkPort(settings)
  let context: NodeContext | undefined
  try {
    context = await loadContext(settings, { log: pino({ level: 'silent' }), clock })
    if (context.duties.reachesLayer1) contractsOf(context)
    return [port, ...(await checkParts(context))]
  } catch (error) {
    if (!isSettingsError(error)) throw error
    return [port, ...error.problems.map(about('settings').failed)]
  } finally {
    await context?.server.close()
  }
}

async function checkPort(settings: Settings): Promise<NodeFinding> {
  const { HOST, PORT } = settings
  const { ok, failed } = about('port')
  try {
    await checkAddress(settings)
    return ok(PORT === 0 ? `a free port of ${HOST}` : `port ${PORT} of ${HOST} is free`)
  } catch (error) {
    if (!isStartError(error)) throw error
    return failed(error.message)
  }
}

async function checkParts(context: NodeContext): Promise<readonly NodeFinding[]> {
  const { settings, duties } = context
  const none: Inspection = { findings: [] }
  const [directory, postgres, redis, layer1] = await Promise.all([
    settings.DATABASE_URL === undefined ? checkDataDirectory(settings) : [],
    settings.DATABASE_URL === undefined
      ? none
      : inspectPostgres(settings, settings.DATABASE_URL, context.clock),
    settings.REDIS_URL === undefined ? [] : checkRedis(settings, settings.REDIS_URL),
    duties.reachesLayer1 ? inspectLayer1(context) : none,
  ])
  const times = [postgres.time, layer1.time].filter((time) => time !== undefined)
  return [...directory, ...postgres.findings, ...redis, ...layer1.findings, clockFinding(times)]
}
