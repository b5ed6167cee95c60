import { inspectServer, type ServerInspection, StoreError } from '@ratatosk/store'
import { StartError } from '../errors.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { indexSchema, queueSchema } from '../storage/open-storage.js'
import { about, type Inspection, type NodeFinding } from './finding.js'

const { ok, warning, failed } = about('PostgreSQL')
const oldestMajor = 13
/** As long as the store waits. */
const connectTimeoutMs = 10_000

/** Asks the server of DATABASE_URL whether it can hold the store. Creates nothing. */
export async function inspectPostgres(
  settings: Settings,
  url: string,
  clock: () => number,
): Promise<Inspection> {
  const schemas = [
    settings.DATABASE_SCHEMA,
    indexSchema(settings),
    ...(settings.REDIS_URL === undefined ? [queueSchema(settings)] : []),
  ]
  const place = maskedUrl(url)
  try {
    const inspection = await inspectServer({ url }, schemas)
    return {
      findings: serverFindings(place, inspection),
      time: { source: 'PostgreSQL', aheadMs: clock() - inspection.time },
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { findings: [failed(`${place}: ${mendOf(error)}`)] }
  }
}

/**
 * Refuses a server that cannot hold the store, before a start creates anything. Privileges are left to the
 * migration: without that of creating schemas, a user may use migrated ones.
 * @throws StartError `NODE_DATABASE`
 */
export async function requirePostgres(
  settings: Pick<Settings, 'DATABASE_SCHEMA'>,
  url: string,
): Promise<void> {
  const place = maskedUrl(url)
  const refusal = (reason: string, cause?: StoreError) =>
    new StartError('NODE_DATABASE', `The store cannot be opened: ${reason}`, cause && { cause })
  try {
    const server = await inspectServer({ url, connectTimeoutMs }, [settings.DATABASE_SCHEMA])
    const findings = serverFindings(place, { ...server, mayCreate: true })
    const faults = findings.filter(({ status }) => status === 'failed')
    if (faults.length > 0) throw refusal(faults.map(({ message }) => message).join(' '))
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw refusal(`${error.message}. ${place}: ${mendOf(error)}`, error)
  }
}

/** The findings about a server from its description of itself. */
export function serverFindings(
  place: string,
  { version, isReadOnly, mayCreate, warnings }: ServerInspection,
): readonly NodeFinding[] {
  const major = Math.floor(version / 10_000)
  const faults = [
    major < oldestMajor && `PostgreSQL ${major} is too old: update the server to ${oldestMajor} or later.`,
    isReadOnly &&
      'the server is read-only: name the primary server, or set default_transaction_read_only to off.',
    !mayCreate && "the user may not create the node's schemas: GRANT CREATE ON DATABASE to this user.",
  ].filter((fault) => fault !== false)
  if (faults.length > 0) return faults.map((fault) => failed(`${place}: ${fault}`))
  return [ok(`${place}, version ${major}`), ...warnings.map(({ message }) => warning(`${message}.`))]
}

function mendOf({ code, sqlState, message }: StoreError): string {
  if (sqlState === '28P01') return 'wrong user or password: correct DATABASE_URL.'
  if (sqlState === '3D000') return 'the database does not exist: create it, such as with `createdb`.'
  if (code === 'STORE_UNAVAILABLE' || code === 'STORE_TIMEOUT')
    return 'no answer: start PostgreSQL, or correct DATABASE_URL.'
  return `${message}.`
}
