import type { Store } from '@ratatosk/store'
import type { NodeContext } from '../context.js'
import { StartError } from '../errors.js'
import { loadProtocolParameters } from '../network/protocol-parameters.js'
import type { Settings } from '../settings/schema.js'

/**
 * The context at the ledger version of the deployment.
 * @throws StartError `NODE_DATABASE`, with what to do, for another version; SettingsError if the node does
 *   not include its parameters
 */
export async function atLedgerVersion(
  context: NodeContext,
  store: Pick<Store, 'ledgerVersion'>,
): Promise<NodeContext> {
  const { major } = context.parameters.ledgerVersion
  return contextAt(context, await store.ledgerVersion(major))
}

/** The latest result of {@link contextAt}: a start asks for it repeatedly. */
const kept = new WeakMap<NodeContext, NodeContext>()

/** The context at a deployment's version, or of a new one. Throws as {@link atLedgerVersion}. */
export async function contextAt(context: NodeContext, began: number | undefined): Promise<NodeContext> {
  const { settings, parameters, log } = context
  const { major } = parameters.ledgerVersion
  const { LEDGER_VERSION } = settings
  if (began === undefined || began === major) return context
  if (!isStated(settings)) {
    const known = kept.get(context)
    if (known?.parameters.ledgerVersion.major === began) return known
    log.info({ ledgerVersion: began }, 'The deployment keeps the ledger version with which it began')
    const found = { ...context, parameters: await loadProtocolParameters(settings, began) }
    kept.set(context, found)
    return found
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

function isStated({ LEDGER_VERSION, PROTOCOL_PARAMETERS_FILE }: Settings): boolean {
  return LEDGER_VERSION !== undefined || PROTOCOL_PARAMETERS_FILE !== undefined
}
