import { resolve } from 'node:path'
import { blockVersion, decodeHeader } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { storedChainHas } from '@ratatosk/devnet'
import {
  blake2b256,
  encodeOutputReference,
  outputReferenceKey,
  type ProtocolParameters,
  splitUnit,
} from '@ratatosk/ledger'
import type { Contracts } from '@ratatosk/protocol'
import type { Store } from '@ratatosk/store'
import type { NodeContext } from '../context.js'
import { StartError } from '../errors.js'
import { verdictsOf } from '../settings/derived.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { beginAnew, devnetSchema, nodeSchemas } from '../storage/open-storage.js'
import { checkQueue, contextAt, type StoredHead } from '../storage/stored-ledger.js'
import { bridgedBy, contractsOf } from './settlement.js'

/** Settings that are parameters of the contracts; stores of earlier commits do not have them. */
const ofContracts = [
  ...(['PROTOCOL', 'ADMIN_KEY_HASH', 'DEPLOYMENT_OUTPUT', 'MATURITY_WINDOW_MS', 'OPERATOR_TURN_MS'] as const),
  ...(['TAKEOVER_AFTER_MS', 'OPERATOR_BOND', 'SLASH_PENALTY', 'VERDICT_POLICIES', 'EVENT_WAIT_MS'] as const),
]

/** The values that the rules of layer 2 depend on, each by the setting that decides it. */
type KeptRules = Readonly<Record<(typeof compared)[number], string>>

const compared = [
  ...(['NETWORK', 'PROTOCOL_PARAMETERS_FILE', 'BRIDGE', 'BRIDGED_POLICIES'] as const),
  ...ofContracts,
  'contracts' as const,
]

/**
 * Refuses a process that would judge or read by other rules than those on the same store: what one accepts,
 * another would commit to an invalid block. The first process states the rules.
 *
 * @throws StartError `NODE_DATABASE`, which names the setting
 */
export async function keepRules(context: NodeContext, store: Pick<Store, 'ledgerRules'>): Promise<void> {
  checkRules(context, await store.ledgerRules(JSON.stringify(rulesOf(context))))
}

/**
 * Refuses other rules than those that a store keeps.
 * @param hasBlocks without one, nothing on layer 1 shows that the kept rules are right
 * @throws StartError as `keepRules`
 */
export function checkRules(context: NodeContext, stated: string, hasBlocks = true): void {
  const own = rulesOf(context)
  const kept = readRules(stated)
  const mayLack: readonly string[] = ofContracts
  const other = compared.find(
    (setting) =>
      kept[setting] !== own[setting] && !(kept[setting] === undefined && mayLack.includes(setting)),
  )
  if (other === undefined) return
  const first = hasBlocks
    ? ''
    : 'They are those of its first start, which may have been wrong: it has no block yet. '
  const remedy = hasBlocks
    ? `Start with the settings of the others, or ${beginAnew}`
    : `If the settings here are right, stop every process on it, ${emptying(context.settings)}, and start ` +
      'again. Otherwise start with those of the first start.'
  throw new StartError(
    'NODE_DATABASE',
    `${faultOf(other, kept, own)} Every process on this store must judge by the same rules. ` +
      `${first}${remedy}`,
  )
}

/** How a store is removed. It loses what was accepted by its rules, which others may judge otherwise. */
function emptying(settings: Settings): string {
  if (settings.DATABASE_URL === undefined) return `remove the folder "${resolve(settings.DATA_DIR)}"`
  return `run \`DROP SCHEMA IF EXISTS ${nodeSchemas(settings).join(', ')} CASCADE\` in PostgreSQL`
}

function rulesOf(context: NodeContext): KeptRules {
  const { network, parameters, keys } = context
  // Without these keys, the network has no bridge: see `readKeys`.
  const contracts: Contracts | undefined = keys.administrator && contractsOf(context)
  const bridge = contracts?.bridge
  return {
    NETWORK: network.name,
    PROTOCOL_PARAMETERS_FILE: digestOf(parameters),
    BRIDGE: String(bridge !== undefined),
    BRIDGED_POLICIES: contracts === undefined ? '' : [...bridgedBy(contracts)].sort().join(),
    ...parametersOf(context, bridge && contracts),
    contracts: bridge === undefined ? '' : toHex(bridge.place.script.hash),
  }
}

/** Without a bridge, the rules of layer 2 do not depend on the contracts. */
function parametersOf({ settings }: NodeContext, contracts: Contracts | undefined) {
  const parameters = contracts?.parameters
  const values: Readonly<Record<(typeof ofContracts)[number], unknown>> = {
    PROTOCOL: parameters?.protocol,
    ADMIN_KEY_HASH: parameters && toHex(parameters.administrator.hash),
    DEPLOYMENT_OUTPUT: parameters && outputReferenceKey(parameters.deploymentOutput),
    MATURITY_WINDOW_MS: parameters?.maturityWindow,
    OPERATOR_TURN_MS: parameters?.turnLength,
    TAKEOVER_AFTER_MS: parameters?.takeOverAfter,
    OPERATOR_BOND: parameters?.bond,
    SLASH_PENALTY: parameters?.slashPenalty,
    VERDICT_POLICIES: parameters && verdictsOf(settings).join(),
    EVENT_WAIT_MS: parameters?.bridge?.eventWait,
  }
  return Object.fromEntries(
    Object.entries(values).map(([setting, value]) => [setting, String(value ?? '')]),
  ) as Readonly<Record<(typeof ofContracts)[number], string>>
}

function faultOf(setting: keyof KeptRules, kept: Partial<KeptRules>, own: KeptRules): string {
  const [was, is] = [kept[setting] ?? 'not known', own[setting]].map((text) => text || 'empty')
  if (setting === 'PROTOCOL_PARAMETERS_FILE')
    return (
      'The protocol parameters of layer 2 are not those of the deployment in this database: ' +
      'PROTOCOL_PARAMETERS_FILE has changed, or this version has others.'
    )
  if (setting === 'contracts')
    return (
      `The deployment in this database has the bridge ${was}, and these settings have the bridge ${is}. A ` +
      'setting that is a parameter of the contracts has changed, or this version has other contracts.'
    )
  return `The deployment in this database has ${setting} ${was}, and here ${setting} is ${is}.`
}

function digestOf(parameters: ProtocolParameters): string {
  const text = JSON.stringify(parameters, (_, value: unknown) => {
    if (typeof value === 'bigint') return String(value)
    return value instanceof Map ? [...value] : value
  })
  return toHex(blake2b256(new TextEncoder().encode(text)))
}

function readRules(text: string): Partial<KeptRules> {
  try {
    return JSON.parse(text) as Partial<KeptRules>
  } catch {
    return {}
  }
}

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
