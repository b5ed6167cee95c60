import { embeddedFolder } from '@ratatosk/database/embedded'
import { isQueueError } from '@ratatosk/queue'
import { isStoreError, readStored } from '@ratatosk/store'
import type { NodeContext } from '../context.js'
import { StartError } from '../errors.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'

/**
 * Why a start would refuse the queue in Redis of the ledger `bound`: it would continue another ledger, or
 * begin one. Undefined also if only the start can tell. Changes nothing.
 */
export async function foreignQueue(settings: Settings, bound: string): Promise<string | undefined> {
  const { DATABASE_URL: url, DATABASE_SCHEMA: schema, DATA_DIR } = settings
  if (url === undefined)
    return (await embeddedFolder(DATA_DIR)) === undefined ? otherLedger(settings) : undefined
  try {
    const own = await readStored({ url, schema }, async (stored) => stored?.ledgerId)
    return own === bound ? undefined : otherLedger(settings)
  } catch (error) {
    if (!isStoreError(error)) throw error
    return undefined
  }
}

/** The refusal of a queue of another ledger, with what to do. */
export function otherLedger(settings: Settings): string {
  const { QUEUE_PREFIX, DATABASE_URL, DATABASE_SCHEMA, DATA_DIR } = settings
  const [place, names] =
    DATABASE_URL === undefined
      ? [`"${DATA_DIR}", schema ${DATABASE_SCHEMA}`, 'DATA_DIR or DATABASE_SCHEMA']
      : [`${maskedUrl(DATABASE_URL)}, schema ${DATABASE_SCHEMA}`, 'DATABASE_URL or DATABASE_SCHEMA']
  return (
    `QUEUE_PREFIX is "${QUEUE_PREFIX}", but the queue in Redis with this prefix belongs to another ledger ` +
    `than the one in ${place}. It was not touched. Correct ${names}, or set another QUEUE_PREFIX: the copy ` +
    'of a ledger needs one of its own. If the other ledger is gone for good, delete the key ' +
    `"${QUEUE_PREFIX}:ledger" in Redis: this ledger then takes the queue, and validates the submissions ` +
    'that wait in it.'
  )
}

/** SQL that makes a copy of a store, such as one by pg_dump, a ledger of its own. */
export function separation(schema: string): string {
  return `\`UPDATE ${schema}.deployment SET ledger_id = gen_random_uuid(), queue = NULL\``
}

/** The queue of the settings, as the store records it: without hosts, whose names differ by process. */
function queueOf({ REDIS_URL, QUEUE_PREFIX }: Settings): string {
  if (REDIS_URL === undefined) return "in the store's database"
  const { pathname, searchParams } = new URL(REDIS_URL)
  const database = Number(pathname.slice(1) || (searchParams.get('db') ?? 0))
  return `in database ${database} of Redis, with prefix "${QUEUE_PREFIX}"`
}

/**
 * Refuses another queue than that of the other processes on the store: nothing would validate what waits in
 * it. The first one decides. An embedded store has one process, and an archive needs no queue.
 *
 * @throws StartError `NODE_QUEUE`
 */
export async function checkQueue(
  { settings, duties }: Pick<NodeContext, 'settings' | 'duties'>,
  recorded: (own: string) => Promise<string> | string | undefined,
): Promise<void> {
  const { DATABASE_URL, DATABASE_SCHEMA } = settings
  if (DATABASE_URL === undefined || duties.bodies === 'archive') return
  const own = queueOf(settings)
  const kept = (await recorded(own)) ?? own
  if (kept === own) return
  throw new StartError(
    'NODE_QUEUE',
    `The queue of the ledger in ${maskedUrl(DATABASE_URL)}, schema ${DATABASE_SCHEMA} is ${kept}, but here ` +
      `it is ${own}: nobody would validate its submissions. Correct REDIS_URL or QUEUE_PREFIX. To move the ` +
      'queue, let the processes empty it, stop them all, run ' +
      `\`UPDATE ${DATABASE_SCHEMA}.deployment SET queue = NULL\` in PostgreSQL, and start with the other. ` +
      'In a copy of the database that `ratatosk restore` did not make, run ' +
      `${separation(DATABASE_SCHEMA)} instead: with the queue of the original, the copy would take ` +
      'submissions from it.',
  )
}

/** The remedy for a Redis that cannot be used. */
export function remedyOfRedis(error: unknown, startIt: string): string {
  if (isQueueError(error) && error.code === 'QUEUE_CONFIGURATION')
    return (
      'Correct the database at the end of REDIS_URL, or omit it: deployments on one Redis need no database ' +
      'of their own, but a QUEUE_PREFIX of their own.'
    )
  return startIt
}
