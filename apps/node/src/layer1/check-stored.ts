import { resolve } from 'node:path'
import { blockVersion, decodeHeader } from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import { storedChainHas } from '@ratatosk/devnet'
import { encodeOutputReference, splitUnit } from '@ratatosk/ledger'
import type { Contracts } from '@ratatosk/protocol'
import type { NodeContext } from '../context.js'
import { StartError } from '../errors.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { beginAnew, devnetSchema } from '../storage/open-storage.js'
import { checkQueue } from '../storage/queue-ledger.js'
import { contextAt, type StoredHead } from '../storage/stored-ledger.js'
import { checkRules } from './kept-rules.js'
import { contractsOf } from './settlement.js'

/**
 * Refuses a store of another deployment, as nothing can follow it: of another ledger version, with other
 * rules, or whose blocks have another version or other contracts; without blocks, a devnet whose deployment
 * output began others; or with another queue. A start and `checkEnvironment` both ask it.
 * @throws StartError `NODE_DATABASE` or `NODE_QUEUE`, with what to do
 */
export async function checkStored(
  context: NodeContext,
  { newest, archivedHeader, ledgerVersion, ledgerRules, ledgerQueue, database }: StoredHead,
): Promise<void> {
  const { settings } = context
  const place = placeOf(settings)
  const other = (header: Uint8Array | undefined) => {
    const version = header && versionOf(header)
    if (version === undefined || version === String(blockVersion)) return undefined
    return `of block version ${version}, and this node has version ${blockVersion}.`
  }
  const version = other(newest?.header)
  if (version !== undefined)
    refuse(`The blocks in ${place} are ${version}`, `Start the version that made them, or ${beginAnew}`)
  const archived = other(archivedHeader)
  if (archived !== undefined)
    refuse(
      `The archive in ${place} has blocks ${archived}`,
      `Start the version that made it, or ${beginAnew}`,
    )
  const kept = await contextAt(context, ledgerVersion)
  // First, as they name the setting.
  const hasBlocks = newest !== undefined || archivedHeader !== undefined
  if (ledgerRules !== undefined) checkRules(kept, ledgerRules, hasBlocks)
  await checkQueue(context, () => ledgerQueue)
  if (context.duties.reachesLayer1) await checkContracts(kept, newest, database)
}

async function checkContracts(
  context: NodeContext,
  newest: StoredHead['newest'],
  database: StoredHead['database'],
): Promise<void> {
  const { settings } = context
  const contracts = contractsOf(context)
  const place = placeOf(settings)
  const { policy } = contracts.scripts.queue
  // A commit transaction mints a token of the queue's policy.
  const isOther =
    newest === undefined
      ? await hasOtherDeployment(settings, contracts, database)
      : newest.commitTransaction !== null && !Buffer.from(newest.commitTransaction).includes(policy, 'hex')
  if (!isOther) return
  const what =
    newest === undefined ? `The deployment on the devnet in ${place} is` : `The blocks in ${place} are`
  refuse(
    `${what} not in the state queue of these contracts, whose policy is ${policy}. A setting that is a ` +
      'parameter of the contracts has changed, or this version has other contracts.',
    `Start with the settings and the version that made it, or ${beginAnew}`,
  )
}

function refuse(reason: string, remedy: string): never {
  throw new StartError('NODE_DATABASE', `${reason} Nothing was changed. ${remedy}`)
}

/** Whether another state queue exists on a devnet that has none of these contracts, and never can. */
async function hasOtherDeployment(
  settings: Settings,
  { parameters, scripts }: Contracts,
  database: StoredHead['database'],
): Promise<boolean> {
  if (settings.LAYER1_PROVIDER !== 'devnet') return false
  const { queue } = scripts
  const has = (bytes: Uint8Array) => storedChainHas(database, devnetSchema(settings), bytes)
  // An input ends with the transaction's id and the index. The name of the root's token is in its mint.
  const input = encodeOutputReference(parameters.deploymentOutput).subarray(3)
  return (
    (await has(input)) &&
    !(await has(fromHex(queue.policy))) &&
    (await has(fromHex(splitUnit(queue.unit).name)))
  )
}

/** Where the store of these settings is, for people; without credentials. */
function placeOf({ DATABASE_URL, DATABASE_SCHEMA, DATA_DIR }: Settings): string {
  return DATABASE_URL === undefined
    ? `the embedded PostgreSQL of DATA_DIR "${resolve(DATA_DIR)}"`
    : `the schema ${DATABASE_SCHEMA} of ${maskedUrl(DATABASE_URL)}`
}

function versionOf(header: Uint8Array): string {
  try {
    return String(decodeHeader(header).blockVersion)
  } catch {
    return 'unknown'
  }
}
