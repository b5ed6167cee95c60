import { resolve } from 'node:path'
import { equalBytes } from '@ratatosk/cbor'
import { embeddedFolder } from '@ratatosk/database/embedded'
import type { Layer1 } from '@ratatosk/layer1'
import { outputReferenceKey } from '@ratatosk/ledger'
import { type Contracts, isProtocolError, readStateQueue, soundRoot } from '@ratatosk/protocol'
import type { NodeContext } from '../context.js'
import { isStartError } from '../errors.js'
import { registryIn, unregisteredLine } from '../layer1/registered.js'
import { contractsOf } from '../layer1/settlement.js'
import { includedVersions } from '../network/protocol-parameters.js'
import { checkStoreAt } from '../storage/open-storage.js'
import { contextAt } from '../storage/stored-ledger.js'
import { about, type NodeFinding } from './finding.js'

const { ok, warning, failed } = about('state queue')

type Reads = Pick<Layer1, 'utxosByUnit' | 'utxosByReferences'>

/** Whether layer 1 has the state queue of these settings, or lets a process begin it that has the keys. */
export async function checkStateQueue(context: NodeContext, layer1: Reads): Promise<readonly NodeFinding[]> {
  const faults: string[] = []
  for (const each of await contextsOfStart(context)) {
    const contracts = contractsOf(each)
    const fault = await faultOf(contracts, layer1)
    if (fault === undefined)
      return [ok('layer 1 has that of these contracts'), ...(await checkOperator(each, layer1))]
    const reason = mayBegin(context) ? await cannotBegin(contracts, layer1) : `${fault}.`
    if (reason === undefined) return [ok('layer 1 has none yet, and one can begin')]
    faults.push(reason)
  }
  return faults.slice(0, 1).map(failed)
}

/** Why layer 1 has no root of the contracts; undefined if it has. Blocks, which may be many, are not read. */
async function faultOf(contracts: Contracts, layer1: Reads): Promise<string | undefined> {
  const queue = readStateQueue(contracts, await layer1.utxosByUnit(contracts.scripts.queue.unit))
  if (queue.roots.length > 0) return undefined
  try {
    soundRoot(queue)
    return undefined
  } catch (error) {
    if (!isProtocolError(error)) throw error
    return error.message
  }
}

/** Why no state queue of the contracts can begin, where layer 1 has none; undefined if one can. */
async function cannotBegin(contracts: Contracts, layer1: Reads): Promise<string | undefined> {
  const { scripts } = contracts
  const { deploymentOutput } = contracts.parameters
  const isUnspent = (await layer1.utxosByReferences([deploymentOutput])).length > 0
  // Later, as the registry spends the output.
  const registry = await registryIn(contracts, layer1)
  if (registry === undefined ? isUnspent : equalBytes(registry.datum.queue, scripts.queue.script.hash))
    return undefined
  return (
    `The deployment output ${outputReferenceKey(deploymentOutput)} is spent or never existed, and layer 1 ` +
    'has no state queue of these contracts: if it began a deployment, correct the settings that are ' +
    'parameters of its contracts, such as MATURITY_WINDOW_MS, or else name an unspent DEPLOYMENT_OUTPUT.'
  )
}

/** Warns if the operator of this process is not registered: a standby shows it only once it takes over. */
async function checkOperator(context: NodeContext, layer1: Reads): Promise<readonly NodeFinding[]> {
  const { operator } = context.keys
  const line = operator && (await unregisteredLine(contractsOf(context), layer1, operator.payment.hash))
  return line === undefined ? [] : [warning(line)]
}

/** Whether this process has the keys with which a state queue begins. */
function mayBegin({ duties, keys }: NodeContext): boolean {
  const { signing } = keys.administrator ?? {}
  return duties.sequences && !(signing && 'absent' in signing)
}

/** The contexts with which a start may go on; none if it goes on with none, as another finding says. */
async function contextsOfStart(context: NodeContext): Promise<readonly NodeContext[]> {
  const { DATABASE_URL: url, DATABASE_SCHEMA: schema, DATA_DIR, NETWORK } = context.settings
  try {
    if (url !== undefined) {
      let began: number | undefined
      await checkStoreAt({ url, schema }, async ({ ledgerVersion }) => {
        began = ledgerVersion
      })
      return [await contextAt(context, began)]
    }
    if ((await embeddedFolder(resolve(DATA_DIR))) === undefined) return [context]
    // A check does not open it, so it does not know with which version it began.
    const others = await Promise.allSettled(
      includedVersions(NETWORK).map((began) => contextAt(context, began)),
    )
    const fitting = others.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    return [...new Set([context, ...fitting])]
  } catch (error) {
    if (!isStartError(error)) throw error
    return []
  }
}
