import { equalBytes } from '@ratatosk/cbor'
import type { RegisteredOperator } from '@ratatosk/contracts'
import { type RegistryElement, registerOperator } from '@ratatosk/protocol'
import { findRegistry, min } from '../blocks/operator-turn.js'
import type { SequencerContext } from '../context.js'
import { SequencerError } from '../errors.js'
import { administratorOf } from './administrator.js'
import { readReferenceScripts } from './reference-scripts.js'
import { operationValidUntil, submitAndConfirm } from './submit-and-confirm.js'

/**
 * How long layer 1 may take to include a registration while the queue runs, in milliseconds. The operator's
 * turns begin after it only, so it is shorter than that of other operations.
 */
const registrationValidityMs = 60_000

/**
 * Registers the operator, who pays the bond, unless it is registered.
 *
 * @returns the transaction's id; undefined if there was nothing to do
 * @throws {SequencerError} `SEQUENCER_NOT_REGISTERED` if the operator has retired;
 *   `SEQUENCER_NO_ADMINISTRATOR` if the administrator
 *   decides who registers, and its keys are not at hand
 */
export async function register(context: SequencerContext): Promise<string | undefined> {
  const { contracts, operator, layer1, slots, signal, log } = context
  const entry = await ownEntry(context)
  if (entry?.activeUntil !== undefined)
    throw new SequencerError(
      'SEQUENCER_NOT_REGISTERED',
      'The operator is retired: withdraw the bond once it is released, then initialise again',
    )
  if (entry !== undefined) return undefined
  const payer = contracts.parameters.permissioned
    ? administratorOf(context).authority.over(operator)
    : operator
  const isRegistered = async () => (await ownEntry(context)) !== undefined
  const [tip, current] = [await layer1.tip({ signal }), await layer1.currentSlot({ signal })]
  const referenceScripts = await readReferenceScripts(context)
  const registry = await existingRegistry(context)
  const validity = {
    // The tip's slot, in case this clock is ahead of the network's.
    validFrom: min(tip.slot, current),
    validUntil: operationValidUntil(
      context,
      current,
      registry.datum.running ? registrationValidityMs : undefined,
    ),
    slots,
  }
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

/** The operator's entry in the registry; undefined if it is not registered. */
export async function ownEntry(context: SequencerContext): Promise<RegisteredOperator | undefined> {
  const { datum } = await existingRegistry(context)
  return datum.operators.find(({ vkey }) => equalBytes(vkey, context.operator.keys.payment.hash))
}

export async function existingRegistry(context: SequencerContext): Promise<RegistryElement> {
  const registry = await findRegistry(context)
  if (registry !== undefined) return registry
  throw new SequencerError('SEQUENCER_NOT_REGISTERED', 'Layer 1 has no operator registry: initialise again')
}
