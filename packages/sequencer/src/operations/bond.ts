import { equalBytes, toHex } from '@ratatosk/cbor'
import type { RegisteredOperator } from '@ratatosk/contracts'
import { slotToTime } from '@ratatosk/ledger'
import type { OperationResult } from '@ratatosk/ports'
import {
  type RegistryElement,
  registerOperator,
  releaseBond,
  retireOperator,
  type Validity,
} from '@ratatosk/protocol'
import { min } from '../blocks/plan-block.js'
import { administratorOf, type SequencerContext } from '../context.js'
import { notInitialised, refusalOf, retired, SequencerError } from '../errors.js'
import { reconcile } from '../queue/reconcile.js'
import { operationValidUntil, submitAndConfirm } from '../send-transactions.js'
import { alignRoots, applyGenesis } from '../state/ledger-state.js'
import { findRegistry, readReferenceScripts } from '../state/queue-elements.js'
import { fundedWith } from '../summons/answer-wallet.js'

/** Registers the operator with the queue that there is, unless it is registered. */
export async function registerOwn(context: SequencerContext): Promise<OperationResult> {
  if (!(await hasRoot(context))) throw notInitialised()
  const transactionId = await joinQueue(context)
  const entry = await ownEntry(context)
  if (entry === undefined) throw noBond()
  const { bond, activeFrom } = entry
  return {
    kind: 'registered',
    operatorKey: keyOf(context),
    ...(transactionId !== undefined && { transactionId }),
    bond: String(bond),
    activeFrom: Number(activeFrom),
  }
}

/** Retires the operator, unless it has retired. */
export async function retireOwn(context: SequencerContext): Promise<OperationResult> {
  const { contracts, operator, log } = context
  const { turnLength, releaseDelay } = contracts.parameters
  const key = operator.keys.payment.hash
  const registry = await existingRegistry(context)
  const before = entryOf(context, registry)
  if (before === undefined) throw noBond()
  let transactionId: string | undefined
  if (before.activeUntil === undefined) {
    const validity = await changeValidity(context, registry)
    // The contract allows one turn.
    const validUntil = min(validity.validUntil, validity.validFrom + turnLength / slotLengthOf(context))
    const scripts = await readReferenceScripts(context)
    const draft = retireOperator(contracts, registry, key, { ...validity, validUntil }, 'operator', scripts)
    const isDone = async () => (await ownEntry(context))?.activeUntil !== undefined
    transactionId = await submitAndConfirm(context, operator, draft, isDone)
  }
  const activeUntil = before.activeUntil ?? (await ownEntry(context))?.activeUntil
  if (activeUntil === undefined) throw noBond()
  const times = { activeUntil: Number(activeUntil), releaseAt: Number(activeUntil + releaseDelay) }
  if (transactionId !== undefined) log.info({ transactionId, ...times }, 'Retired the operator')
  return {
    kind: 'retired',
    operatorKey: keyOf(context),
    ...(transactionId !== undefined && { transactionId }),
    ...times,
  }
}

/** Returns the bond of the retired operator to its wallet, once that is allowed; 0 if there is none. */
export async function releaseOwn(context: SequencerContext): Promise<OperationResult> {
  const { contracts, operator, layer1, slots, signal, log } = context
  const registry = await existingRegistry(context)
  const entry = entryOf(context, registry)
  if (entry === undefined) return { kind: 'released', operatorKey: keyOf(context), bond: '0' }
  if (entry.activeUntil === undefined) throw bondLocked('the operator has not retired: retire it first')
  const releaseAt = entry.activeUntil + contracts.parameters.releaseDelay
  if (slotToTime(slots, (await layer1.tip({ signal })).slot) < releaseAt)
    throw bondLocked(`it is free from ${new Date(Number(releaseAt)).toISOString()} on`)
  const scripts = await readReferenceScripts(context)
  const draft = releaseBond(contracts, registry, operator.keys.payment.hash, slots, scripts)
  const isDone = async () => (await ownEntry(context)) === undefined
  const transactionId = await submitAndConfirm(context, operator, draft, isDone)
  const bond = String(entry.bond)
  log.info({ transactionId, bond }, 'Withdrew the bond of the operator')
  return {
    kind: 'released',
    operatorKey: keyOf(context),
    ...(transactionId !== undefined && { transactionId }),
    bond,
  }
}

const keyOf = ({ operator }: SequencerContext): string => toHex(operator.keys.payment.hash)

const slotLengthOf = ({ slots }: SequencerContext): bigint => BigInt(slots.slotLength)

const noBond = (): SequencerError =>
  new SequencerError(
    'SEQUENCER_NOT_REGISTERED',
    'The registry has no bond of the operator: it never registered, withdrew it, or was slashed',
  )

const bondLocked = (reason: string): SequencerError =>
  new SequencerError('SEQUENCER_BOND_LOCKED', `The bond is locked: ${reason}`)

export async function hasRoot({ layer1, contracts, signal }: SequencerContext): Promise<boolean> {
  return (await layer1.utxosByUnit(contracts.scripts.queue.unit, { signal })).length > 0
}

/**
 * Registers the operator with the queue that there is.
 *
 * @returns the id of the transaction; undefined if the operator was registered
 */
export async function joinQueue(context: SequencerContext): Promise<string | undefined> {
  if (await applyGenesis(context)) await alignRoots(context, undefined)
  // An operator leaves no bond with a queue that this store cannot continue.
  const { obstacle } = await reconcile(context)
  if (obstacle !== undefined) throw obstacle
  return register(context).catch((error: unknown) => {
    throw withCost(context, error)
  })
}

/** Says all that a registration costs: a wallet that is filled by what it lacks would lack the next part. */
function withCost({ contracts, answers }: SequencerContext, error: unknown): unknown {
  const refused = refusalOf(error)
  if (refused?.code !== 'SEQUENCER_INSUFFICIENT_FUNDS') return error
  const parts = [`the bond of ${contracts.parameters.bond} lovelace`]
  if (answers !== undefined) parts.push(`${fundedWith} lovelace for the wallet that pays for answers`)
  return new SequencerError(
    refused.code,
    `The operator is not in the registry. Registering takes ${parts.join(', ')}, and some ada for fees ` +
      `and change. ${refused.message}`,
  )
}

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
async function changeValidity(context: SequencerContext, { datum }: RegistryElement): Promise<Validity> {
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
