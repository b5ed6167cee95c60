import { resolve } from 'node:path'
import { embeddedFolder } from '@ratatosk/database/embedded'
import type { Layer1 } from '@ratatosk/layer1'
import { type Contracts, isProtocolError, readStateQueue, soundRoot } from '@ratatosk/protocol'
import type { NodeContext } from '../context.js'
import { isStartError } from '../errors.js'
import { contractsOf } from '../layer1/settlement.js'
import { includedVersions } from '../network/protocol-parameters.js'
import { checkStoreAt } from '../storage/open-storage.js'
import { contextAt } from '../storage/stored-ledger.js'
import { about, type NodeFinding } from './finding.js'

const { ok, failed } = about('state queue')

/** Whether layer 1 has the state queue of these settings, for a process that cannot begin it. */
export async function checkStateQueue(
  context: NodeContext,
  layer1: Pick<Layer1, 'utxosByUnit'>,
): Promise<readonly NodeFinding[]> {
  if (mayBegin(context)) return []
  const faults: string[] = []
  for (const each of await contextsOfStart(context)) {
    const fault = await faultOf(contractsOf(each), layer1)
    if (fault === undefined) return [ok('layer 1 has that of these contracts')]
    faults.push(fault)
  }
  return faults.slice(0, 1).map((fault) => failed(`${fault}.`))
}

/** Why layer 1 has no root of the contracts; undefined if it has. Blocks, which may be many, are not read. */
async function faultOf(
  contracts: Contracts,
  layer1: Pick<Layer1, 'utxosByUnit'>,
): Promise<string | undefined> {
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
