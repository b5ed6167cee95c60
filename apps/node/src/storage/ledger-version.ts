import type { Store } from '@ratatosk/store'
import type { NodeContext } from '../context.js'
import { StartError } from '../errors.js'
import { loadProtocolParameters } from '../network/protocol-parameters.js'

/**
 * The context at the ledger version with which the deployment began; a new deployment begins with that of the
 * context.
 *
 * @throws StartError `NODE_DATABASE`, with what to do, if the settings ask for another version
 * @throws SettingsError if the node does not include parameters of the deployment's version
 */
export async function atLedgerVersion(
  context: NodeContext,
  store: Pick<Store, 'ledgerVersion'>,
): Promise<NodeContext> {
  const { settings, parameters, log } = context
  const { major } = parameters.ledgerVersion
  const { LEDGER_VERSION, PROTOCOL_PARAMETERS_FILE } = settings
  const isStated = LEDGER_VERSION !== undefined || PROTOCOL_PARAMETERS_FILE !== undefined
  // Before versions were recorded, 10 was the default.
  const began = await store.ledgerVersion(major, isStated ? major : 10)
  if (began === major) return context
  if (!isStated) {
    log.info({ ledgerVersion: began }, 'The deployment keeps the ledger version with which it began')
    return { ...context, parameters: await loadProtocolParameters(settings, began) }
  }
  const cause =
    LEDGER_VERSION === undefined
      ? `PROTOCOL_PARAMETERS_FILE has parameters of version ${major}: name a file of version ${began}`
      : `LEDGER_VERSION is ${LEDGER_VERSION}: unset it`
  throw new StartError(
    'NODE_DATABASE',
    `The deployment in this database began with ledger version ${began} and keeps it, but ${cause}, or ` +
      'begin a new deployment with another DATABASE_SCHEMA or, if DATABASE_URL is not set, another DATA_DIR.',
  )
}
