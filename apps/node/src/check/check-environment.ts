import { access, constants, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { layer1LedgerVersion } from '@ratatosk/contracts'
import { isLayer1Error, type Layer1 } from '@ratatosk/layer1'
import { slotToTime } from '@ratatosk/ledger'
import { leastReserve } from '@ratatosk/protocol'
import { isQueueError } from '@ratatosk/queue'
import { inspectServer, type ServerInspection, StoreError } from '@ratatosk/store'
import { pino } from 'pino'
import { loadContext, type NodeContext } from '../context.js'
import { isSettingsError, isStartError, StartError } from '../errors.js'
import { checkStored } from '../layer1/check-stored.js'
import { connectHosted, connectProvider, type OpenedLayer1, remedyOfLayer1 } from '../layer1/open-layer1.js'
import { contractsOf } from '../layer1/settlement.js'
import { cachesOutputs } from '../roles.js'
import { checkAddress, isRunning } from '../server/listen.js'
import { verdictsOf } from '../settings/derived.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { userOf } from '../storage/data-directory.js'
import {
  checkStoreAt,
  indexSchema,
  openRedisQueue,
  queueSchema,
  withoutDirectory,
} from '../storage/open-storage.js'
import { inspectReplica } from '../storage/replica.js'
import { foreignQueue, remedyOfRedis } from '../storage/stored-ledger.js'
import {
  about,
  checkDevnetPort,
  checkPeers,
  checkStateQueue,
  mergedBlock,
  type NodeFinding,
} from './checks.js'

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
  const { ok, warning, failed } = about('port')
  try {
    await checkAddress(settings)
    return ok(PORT === 0 ? `a free port of ${HOST}` : `port ${PORT} of ${HOST} is free`)
  } catch (error) {
    if (!isStartError(error)) throw error
    if (PORT === 0 || !(await isRunning(settings))) return failed(error.message)
    return warning(
      `a node runs on port ${PORT} of ${HOST}: stop it before another starts with these settings.`,
    )
  }
}

async function checkParts(context: NodeContext): Promise<readonly NodeFinding[]> {
  const { settings, duties } = context
  const none: Inspection = { findings: [] }
  const [directory, postgres, replica, redis, devnetPort, layer1] = await Promise.all([
    settings.DATABASE_URL === undefined || cachesOutputs(duties) ? checkDataDirectory(settings) : [],
    settings.DATABASE_URL === undefined ? none : inspectPostgres(context, settings.DATABASE_URL),
    checkReplica(settings),
    settings.REDIS_URL === undefined ? [] : checkRedis(settings, settings.REDIS_URL),
    checkDevnetPort(context),
    duties.reachesLayer1 ? inspectLayer1(context) : none,
  ])
  const peers = await checkPeers(settings, timeoutMs, layer1.merged)
  const times = [postgres.time, layer1.time].filter((time) => time !== undefined)
  return [
    ...directory,
    ...postgres.findings,
    ...replica,
    ...redis,
    ...devnetPort,
    ...layer1.findings,
    ...peers,
    clockFinding(times),
  ]
}

/** Headers have whole seconds, and blocks have slots of a second. */
const toleranceMs = 5000

function clockFinding(times: readonly ForeignTime[]): NodeFinding {
  const { ok, failed } = about('clock')
  const wrong = times.filter(({ aheadMs }) => Math.abs(aheadMs) > toleranceMs)
  if (wrong.length > 0) {
    const facts = wrong.map(
      ({ source, aheadMs }) =>
        `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${source}`,
    )
    return failed(
      `The clock of this machine is ${facts.join(' and ')}: validity intervals and blocks would be wrong. ` +
        'Synchronise it by NTP, such as `timedatectl set-ntp true`.',
    )
  }
  if (times.length === 0) return ok('no other machine to compare it with')
  return ok(`agrees with ${times.map(({ source }) => source).join(' and ')}`)
}

/** Compares a clock with an HTTP server's by its Date header; undefined without one. */
async function timeOf(
  url: string,
  source: string,
  { clock, timeoutMs }: { readonly clock: () => number; readonly timeoutMs: number },
): Promise<ForeignTime | undefined> {
  try {
    const before = clock()
    const { headers, body } = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      // A copy from a cache would have an old date.
      headers: { 'cache-control': 'no-cache' },
    })
    const after = clock()
    await body?.cancel()
    // The header is cut to a second: its mean is half a second later.
    const theirs = Date.parse(headers.get('date') ?? '') + 500
    return Number.isNaN(theirs) ? undefined : { source, aheadMs: (before + after) / 2 - theirs }
  } catch {
    return undefined
  }
}

const ofDirectory = about('data directory')

/** Whether DATA_DIR can be written to, or created. Creates nothing. Beside PostgreSQL, it is not needed. */
async function checkDataDirectory({
  DATA_DIR,
  DATABASE_URL,
}: Pick<Settings, 'DATA_DIR' | 'DATABASE_URL'>): Promise<readonly NodeFinding[]> {
  const isCache = DATABASE_URL !== undefined
  const fault = (message: string) =>
    isCache ? ofDirectory.warning(`${message} ${withoutDirectory}`) : ofDirectory.failed(message)
  const path = resolve(DATA_DIR)
  const existing = await nearestExisting(path)
  const mend = 'Correct its owner and mode, or set another DATA_DIR.'
  if (!(await stat(existing)).isDirectory())
    return [fault(`DATA_DIR is "${DATA_DIR}": "${existing}" is not a directory. Set another DATA_DIR.`)]
  try {
    await access(existing, constants.W_OK | constants.X_OK)
  } catch {
    return [fault(`DATA_DIR is "${DATA_DIR}": this user cannot write to "${existing}". ${mend}`)]
  }
  const user = await userOf(path)
  if (user !== undefined) {
    const used = `the process ${user} uses ${path}: stop it before another starts with this DATA_DIR.`
    return [ofDirectory.warning(isCache ? `${used} ${withoutDirectory}` : used)]
  }
  if (existing !== path) return [ofDirectory.ok(`${path}, which the first start creates`)]
  return [ofDirectory.ok(isCache ? path : `${path}; a start checks its store`)]
}

async function nearestExisting(path: string): Promise<string> {
  try {
    await stat(path)
    return path
  } catch {
    return dirname(path) === path ? path : nearestExisting(dirname(path))
  }
}

const ofLayer1 = about('layer 1')
const timeoutMs = 5000
/** Public networks have a block every 20 seconds on average; half an hour without one is a fault. */
const oldestTipMs = 1_800_000
const lovelacePerAda = 1_000_000n

/** Asks the provider of layer 1 for its network, its tip and the operator's wallet. Changes nothing. */
async function inspectLayer1(context: NodeContext): Promise<Inspection> {
  const { settings, clock } = context
  const limits = { attempts: 1, requestTimeoutMs: timeoutMs, callTimeoutMs: 2 * timeoutMs }
  const provider = connectProvider(context, limits) ?? (await connectHosted(context, limits))
  if (provider === undefined) return { findings: [ofLayer1.ok('a devnet of the node')] }
  const url = settings.BLOCKFROST_URL ?? settings.OGMIOS_URL
  const time = url === undefined ? undefined : await timeOf(url, 'layer 1', { clock, timeoutMs })
  try {
    const tip = await checkTip(context, provider, time)
    if (tip.status !== 'ok') return { findings: [tip], ...(time && { time }) }
    const [queue, wallet] = await Promise.all([
      checkStateQueue(context, provider.layer1),
      checkWallet(context, provider),
    ])
    const merged = settings.ARCHIVIST_PEERS && (await mergedBlock(contractsOf(context), provider.layer1))
    return { findings: [tip, ...queue, ...wallet], ...(time && { time }), ...(merged && { merged }) }
  } catch (error) {
    if (!isLayer1Error(error)) throw error
    const message = `${provider.place}: ${error.message}. ${remedyOfLayer1(error.code, settings)}`
    return { findings: [ofLayer1.failed(message)], ...(time && { time }) }
  }
}

async function checkTip(
  { clock }: NodeContext,
  { layer1, place }: OpenedLayer1,
  time: ForeignTime | undefined,
): Promise<NodeFinding> {
  const [tip, slots, { ledgerVersion }] = await Promise.all([
    layer1.tip(),
    layer1.slots(),
    layer1.parameters(),
  ])
  if (ledgerVersion.major < layer1LedgerVersion)
    return ofLayer1.failed(
      `${place} has ledger version ${ledgerVersion.major}, and the contracts need ${layer1LedgerVersion}. ` +
        'Use a network, or a devnet, of that version.',
    )
  const ageMs = clock() - (time?.aheadMs ?? 0) - Number(slotToTime(slots, tip.slot))
  if (ageMs <= oldestTipMs) return ofLayer1.ok(`${place}, block ${tip.height}`)
  return ofLayer1.failed(
    `${place} is behind: its newest block is ${Math.round(ageMs / 60_000)} minutes old. ` +
      'Wait until its node has caught up, or use another provider.',
  )
}

/** Whether the wallet that pays for commitments has funds. */
async function checkWallet(
  { keys: { operator }, settings }: NodeContext,
  { layer1 }: { readonly layer1: Layer1 },
): Promise<readonly NodeFinding[]> {
  if (operator === undefined) return []
  const wallet = about('wallet')
  const utxos = await layer1.utxosAt(operator.addressText)
  const lovelace = utxos.reduce((sum, { output }) => sum + output.value.lovelace, 0n)
  const bond = BigInt(settings.OPERATOR_BOND)
  if (lovelace === 0n)
    return [
      wallet.failed(
        `The operator's wallet is empty: send the bond of ${bond / lovelacePerAda} ada and some ada for ` +
          `fees to ${operator.addressText}.`,
      ),
    ]
  const found = `${lovelace / lovelacePerAda} ada at ${operator.addressText}`
  const reserve = leastReserve(bond, BigInt(settings.SLASH_PENALTY))
  if (lovelace >= reserve || !verdictsOf(settings).includes('summons')) return [wallet.ok(found)]
  return [
    wallet.warning(
      `${found}: keep ${reserve / lovelacePerAda + 1n} ada for answers, or questions that it cannot answer ` +
        'take the bond for little.',
    ),
  ]
}

const ofPostgres = about('PostgreSQL')
const oldestMajor = 13
/** As long as the store waits. */
const connectTimeoutMs = 10_000

/** Asks the server of DATABASE_URL whether it can hold the store. Creates nothing. */
async function inspectPostgres(context: NodeContext, url: string): Promise<Inspection> {
  const { settings, clock } = context
  const schemas = [
    settings.DATABASE_SCHEMA,
    indexSchema(settings),
    ...(settings.REDIS_URL === undefined ? [queueSchema(settings)] : []),
  ]
  const place = maskedUrl(url)
  try {
    const inspection = await inspectServer({ url }, schemas)
    const server = serverFindings(place, inspection)
    const isSound = server.every(({ status }) => status !== 'failed')
    return {
      findings: isSound ? [...server, ...(await checkDeployment(context, url))] : server,
      time: { source: 'PostgreSQL', aheadMs: clock() - inspection.time },
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { findings: [ofPostgres.failed(`${place}: ${mendOfPostgres(error)}`)] }
  }
}

const ofDeployment = about('deployment')

/** Whether a start with these settings would continue what is stored. */
async function checkDeployment(context: NodeContext, url: string): Promise<readonly NodeFinding[]> {
  const { DATABASE_SCHEMA: schema } = context.settings
  let found = 'none yet: the first start begins one'
  try {
    await checkStoreAt({ url, schema }, async (stored) => {
      await checkStored(context, stored)
      found = `ledger version ${stored.ledgerVersion ?? 'not recorded'}, rules, blocks and contracts fit`
    })
    return [ofDeployment.ok(found)]
  } catch (error) {
    if (isSettingsError(error)) return error.problems.map(ofDeployment.failed)
    if (!isStartError(error)) throw error
    return [ofDeployment.failed(error.message)]
  }
}

const ofReplica = about('replica')

/** Whether a reader can read from DATABASE_READ_URL. */
async function checkReplica({
  DATABASE_URL,
  DATABASE_READ_URL,
  REPLICA_MAX_LAG_MS,
}: Settings): Promise<readonly NodeFinding[]> {
  if (DATABASE_URL === undefined || DATABASE_READ_URL === undefined) return []
  const place = maskedUrl(DATABASE_READ_URL)
  const { fault, warning, lagMs } = await inspectReplica(DATABASE_URL, DATABASE_READ_URL)
  if (fault !== undefined) return [ofReplica.failed(`${place}: ${fault}. Correct DATABASE_READ_URL.`)]
  const behind = `${place} is up to ${Math.ceil(lagMs)} ms behind`
  return [
    lagMs > REPLICA_MAX_LAG_MS
      ? ofReplica.warning(`${behind}: until it has caught up, a reader is not ready.`)
      : ofReplica.ok(behind),
    ...(warning === undefined ? [] : [ofReplica.warning(`${warning}.`)]),
  ]
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
    throw refusal(`${error.message}. ${place}: ${mendOfPostgres(error)}`, error)
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
  if (faults.length > 0) return faults.map((fault) => ofPostgres.failed(`${place}: ${fault}`))
  return [
    ofPostgres.ok(`${place}, version ${major}`),
    ...warnings.map(({ message }) => ofPostgres.warning(`${message}.`)),
  ]
}

function mendOfPostgres({ code, sqlState, message }: StoreError): string {
  if (sqlState === '28P01') return 'wrong user or password: correct DATABASE_URL.'
  if (sqlState === '3D000') return 'the database does not exist: create it, such as with `createdb`.'
  if (code === 'STORE_UNAVAILABLE' || code === 'STORE_TIMEOUT')
    return 'no answer: start PostgreSQL, or correct DATABASE_URL.'
  return `${message}.`
}

const ofRedis = about('Redis')

/** Asks Redis whether it can hold the queue. Creates nothing. */
async function checkRedis(settings: Settings, url: string): Promise<readonly NodeFinding[]> {
  const place = maskedUrl(url)
  try {
    const queue = await openRedisQueue(settings, url)
    const warnings = queue.warnings()
    const bound = await queue.boundLedger().finally(() => queue.close())
    const refusal = bound === undefined ? undefined : await foreignQueue(settings, bound)
    const found = warnings.map(({ code, message }) =>
      // A queue that evicts loses accepted transactions without a crash.
      (code === 'QUEUE_REDIS_MAY_EVICT' ? ofRedis.failed : ofRedis.warning)(`${place}: ${message}.`),
    )
    if (refusal !== undefined) found.unshift(ofRedis.failed(`${place}: ${refusal}`))
    return found.some(({ status }) => status === 'failed') ? found : [ofRedis.ok(place), ...found]
  } catch (error) {
    if (!isQueueError(error)) throw error
    const isRefused = error.cause instanceof Error && /^(?:WRONGPASS|NOAUTH)\b/.test(error.cause.message)
    const fault = isRefused
      ? 'wrong user or password: correct REDIS_URL.'
      : `${error.message}. ${remedyOfRedis(error, 'Start Redis, or correct REDIS_URL.')}`
    return [ofRedis.failed(`${place}: ${fault}`)]
  }
}

/** A part's findings, and what its server's clock said. */
interface Inspection {
  readonly findings: readonly NodeFinding[]
  readonly time?: ForeignTime
  /** Hash of the newest merged block on layer 1. */
  readonly merged?: string
}

interface ForeignTime {
  readonly source: string
  /** How far this machine's clock is ahead of it, in milliseconds. */
  readonly aheadMs: number
}
