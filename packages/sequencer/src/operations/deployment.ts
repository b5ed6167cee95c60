import { equalBytes, toHex } from '@ratatosk/cbor'
import type { RegisteredOperator } from '@ratatosk/contracts'
import type { Wallet } from '@ratatosk/layer1'
import { outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import {
  initRegistry,
  publishScripts,
  type RegistryElement,
  registerOperator,
  scriptsToPublish,
  type Validity,
} from '@ratatosk/protocol'
import { min } from '../blocks/plan-block.js'
import { administratorOf, hasAdministrator, type SequencerContext } from '../context.js'
import { retired, SequencerError } from '../errors.js'
import { operationValidUntil, sendChain, submitAndConfirm } from '../send-transactions.js'
import { findRegistry, readReferenceScripts } from '../state/queue-elements.js'

/**
 * How long layer 1 may take to include a change of the operators while the queue runs, in milliseconds. The
 * change takes effect after it only, so it is shorter than that of other operations.
 */
const changeValidityMs = 60_000

/**
 * Registers the operator unless it is registered; undefined if there was nothing to do.
 * @throws {SequencerError} `SEQUENCER_BOND_LOCKED` if the operator has retired;
 *   `SEQUENCER_NO_ADMINISTRATOR` if the administrator decides who registers, and its keys are not at hand
 */
export async function register(context: SequencerContext): Promise<string | undefined> {
  const { contracts, operator, log } = context
  const entry = await ownEntry(context)
  if (entry?.activeUntil !== undefined) throw retired()
  if (entry !== undefined) return undefined
  const payer = contracts.parameters.permissioned
    ? administratorOf(context).authority.over(operator)
    : operator
  const isRegistered = async () => (await ownEntry(context)) !== undefined
  const referenceScripts = await readReferenceScripts(context)
  const registry = await existingRegistry(context)
  const validity = await changeValidity(context, registry)
  const key = operator.keys.payment.hash
  const draft = registerOperator(contracts, registry, key, validity, referenceScripts)
  const id = await submitAndConfirm(context, payer, draft, isRegistered)
  context.step('operator-registered')
  const registered = `Registered the operator with a bond of ${contracts.parameters.bond} lovelace`
  const from = registry.datum.running ? (await ownEntry(context))?.activeFrom : undefined
  const begin = from === undefined ? '' : `, whose turns begin at ${new Date(Number(from)).toISOString()}`
  log.info({ transactionId: id }, registered + begin)
  return id
}

/** When layer 1 may include a change of the operators. */
export async function changeValidity(
  context: SequencerContext,
  { datum }: RegistryElement,
): Promise<Validity> {
  const { contracts, layer1, slots, signal } = context
  const [tip, current] = [await layer1.tip({ signal }), await layer1.currentSlot({ signal })]
  return {
    // The tip's slot, in case this clock is ahead of the network's.
    validFrom: min(tip.slot, current),
    validUntil: operationValidUntil(
      context,
      current,
      // Only devnets have shorter turns, and their layer 1 is fast.
      datum.running ? Math.min(changeValidityMs, Number(contracts.parameters.turnLength)) : undefined,
    ),
    slots,
  }
}

/** The operator's entry in the registry of layer 1; undefined if it is not registered. */
export async function ownEntry(context: SequencerContext): Promise<RegisteredOperator | undefined> {
  return entryOf(context, await existingRegistry(context))
}

export const entryOf = (
  { operator }: Pick<SequencerContext, 'operator'>,
  { datum }: RegistryElement,
): RegisteredOperator | undefined =>
  datum.operators.find(({ vkey }) => equalBytes(vkey, operator.keys.payment.hash))

export async function existingRegistry(context: SequencerContext): Promise<RegistryElement> {
  const registry = await findRegistry(context)
  if (registry !== undefined) return registry
  throw new SequencerError('SEQUENCER_NOT_REGISTERED', 'Layer 1 has no operator registry: initialise again')
}

/** Publishes the missing scripts in a chain; `spared` outputs do not pay. Throws as `sendChain`. */
export async function publishMissingScripts(
  context: SequencerContext,
  wallet: Wallet,
  spared: readonly Utxo[] = [],
): Promise<void> {
  const { contracts, cache, log } = context
  cache.referenceScripts = undefined
  const groups = scriptsToPublish(contracts, await readReferenceScripts(context))
  const published = await sendChain(context, wallet, ({ length }) => {
    const scripts = groups[length]
    return scripts && { spends: [], draft: publishScripts(contracts, scripts), spared }
  })
  for (const [place, { id }] of published.entries()) {
    context.step('scripts-published')
    log.info({ transactionId: toHex(id), scripts: groups[place]?.length }, 'Published reference scripts')
  }
  cache.referenceScripts = undefined
}

/**
 * The output that the registry starts with; undefined once there is one.
 * @throws {SequencerError} `SEQUENCER_DEPLOYMENT_OUTPUT_SPENT` if the parameters are those of another
 *   deployment
 */
export async function deploymentToStart(context: SequencerContext): Promise<Utxo | undefined> {
  const { contracts } = context
  const registry = await findRegistry(context)
  if (registry === undefined) {
    const output = await findDeploymentOutput(context)
    if (output !== undefined) return output
    // Spent between both reads, perhaps for the registry.
    if (await findRegistry(context)) return deploymentToStart(context)
    throw deploymentOutputSpent(context)
  }
  if (equalBytes(registry.datum.queue, contracts.scripts.queue.script.hash)) return undefined
  const output = outputReferenceKey(contracts.parameters.deploymentOutput)
  throw new SequencerError(
    'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT',
    `The deployment output ${output} started the registry of another state queue, ` +
      `${toHex(registry.datum.queue)}: use the parameters of that queue, such as its verdict policies, ` +
      'or name an unspent output of the administrator; on a devnet, start with an empty database',
  )
}

export async function createRegistry(context: SequencerContext): Promise<void> {
  const { contracts, log } = context
  const output = await deploymentToStart(context)
  if (output === undefined) return
  const exists = async () => (await findRegistry(context)) !== undefined
  const { wallet } = administratorOf(context)
  const id = await submitAndConfirm(context, wallet, initRegistry(contracts, output), exists)
  context.step('registry-created')
  log.info({ transactionId: id }, 'Created the operator registry')
}

export async function findDeploymentOutput({
  layer1,
  contracts,
  signal,
}: SequencerContext): Promise<Utxo | undefined> {
  const [output] = await layer1.utxosByReferences([contracts.parameters.deploymentOutput], { signal })
  return output
}

export function deploymentOutputSpent(context: SequencerContext): SequencerError {
  const owner = hasAdministrator(context) ? 'administrator' : 'operator'
  const output = outputReferenceKey(context.contracts.parameters.deploymentOutput)
  return new SequencerError(
    'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT',
    `The deployment output ${output} is spent or never existed, and layer 1 has no registry of these ` +
      'contracts: use the settings of the deployment that it began, such as MATURITY_WINDOW_MS, or name an ' +
      `unspent output of the ${owner}`,
  )
}
