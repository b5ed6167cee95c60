import { toHex } from '@ratatosk/cbor'
import { slotToTime } from '@ratatosk/ledger'
import type { OperationResult } from '@ratatosk/ports'
import { releaseBond, retireOperator } from '@ratatosk/protocol'
import { min } from '../blocks/plan-block.js'
import type { SequencerContext } from '../context.js'
import { notInitialised, SequencerError } from '../errors.js'
import { submitAndConfirm } from '../send-transactions.js'
import { readReferenceScripts } from '../state/queue-elements.js'
import { changeValidity, entryOf, existingRegistry, ownEntry } from './deployment.js'
import { hasRoot, joinQueue } from './init.js'

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
