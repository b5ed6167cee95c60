import { equalBytes, toHex } from '@ratatosk/cbor'
import {
  decodeRegistryDatum,
  effectiveTime,
  encodeRegistryAction,
  encodeRegistryDatum,
  type RegisteredOperator,
  type RegistryAction,
  type RegistryDatum,
} from '@ratatosk/contracts'
import { outputReferenceKey, type SlotConfig, slotToTime, splitUnit, type Utxo } from '@ratatosk/ledger'
import {
  type DraftInput,
  type DraftMint,
  type DraftOutput,
  invalidDraft,
  type TransactionDraft,
} from '@ratatosk/ledger/builder'
import { administratorSigners, type Contracts, provideScripts, slashPenaltyOf } from './contracts.js'
import { firstSlotFrom } from './slots.js'

/** The registry's output and its decoded datum. */
export interface RegistryElement {
  readonly utxo: Utxo
  readonly datum: RegistryDatum
}

/** The validity interval of a change of the operators, which decides when the change takes effect. */
export interface Validity {
  /** First slot in which the transaction is valid. */
  readonly validFrom: bigint
  /** First slot in which it is no longer valid. */
  readonly validUntil: bigint
  readonly slots: SlotConfig
}

/**
 * Finds the operator registry among outputs, as `layer1.utxosByUnit(contracts.scripts.registry.unit)` returns
 * them; undefined if it is not among them.
 *
 * @throws PlutusDataError if its datum is not a registry's, which the validator prevents
 */
export function readRegistry(
  { scripts: { registry } }: Contracts,
  utxos: readonly Utxo[],
): RegistryElement | undefined {
  const { name } = splitUnit(registry.unit)
  const utxo = utxos.find(({ output }) => output.value.assets.get(registry.policy)?.has(name))
  if (utxo?.output.datum.kind !== 'inline') return undefined
  return { utxo, datum: decodeRegistryDatum(utxo.output.datum.data) }
}

/**
 * Initialises the registry, without operators. It spends the deployment output, so it happens once, and it
 * names the queue for ever. The administrator signs. Without an administrator, `initRollup` does it.
 *
 * @param deploymentOutput the unspent output that `contracts.parameters.deploymentOutput` names
 * @throws {ProtocolError} `PROTOCOL_ADMINISTRATOR_RENOUNCED`
 * @throws {WalletError} `WALLET_INVALID_DRAFT` if it is another output
 */
export function initRegistry(
  contracts: Contracts,
  deploymentOutput: Utxo,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { registry } = contracts.scripts
  const { input, mint, output } = startRegistry(contracts, deploymentOutput, false)
  return {
    ...provideScripts([registry], referenceScripts),
    inputs: [input],
    mint: [mint],
    outputs: [output],
    requiredSigners: administratorSigners(contracts.parameters),
  }
}

/** The draft part that mints the registry. `running`: the queue starts in the same transaction. */
export function startRegistry(
  { scripts: { registry, queue }, parameters }: Contracts,
  deploymentOutput: Utxo,
  running: boolean,
): { readonly input: DraftInput; readonly mint: DraftMint; readonly output: DraftOutput } {
  const named = outputReferenceKey(parameters.deploymentOutput)
  if (outputReferenceKey(deploymentOutput.reference) !== named)
    throw invalidDraft(`the contracts name ${named} as their deployment output`)
  const token = new Map([[splitUnit(registry.unit).name, 1n]])
  const datum: RegistryDatum = { operators: [], queue: queue.script.hash, running }
  return {
    input: { utxo: deploymentOutput },
    mint: { policy: registry.policy, assets: token, redeemer: encodeRegistryAction({ kind: 'init' }) },
    output: {
      address: registry.address,
      assets: new Map([[registry.policy, token]]),
      datum: { kind: 'inline', data: encodeRegistryDatum(datum) },
    },
  }
}

/**
 * Registers an operator, who signs and deposits the bond. In a permissioned registry the administrator signs
 * as well. The operator counts from the turn after next, or at once while there is no queue.
 *
 * @throws {WalletError} `WALLET_INVALID_DRAFT` if the registry names another queue, whose removals could
 *   slash an honest operator
 */
export function registerOperator(
  contracts: Contracts,
  element: RegistryElement,
  operator: Uint8Array,
  validity: Validity,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { parameters } = contracts
  refuseOtherQueue(contracts, element)
  const activeFrom = takesEffect(contracts, element, validity)
  const { datum } = element
  const entry: RegisteredOperator = { vkey: operator, bond: parameters.bond, activeFrom }
  const after = { ...datum, operators: [entry, ...datum.operators] }
  const signers = [operator, ...(parameters.permissioned ? administratorSigners(parameters) : [])]
  return {
    ...change(contracts, element, { kind: 'register', operator }, after, parameters.bond, referenceScripts),
    requiredSigners: distinct(signers),
    validFrom: validity.validFrom,
    validUntil: validity.validUntil,
  }
}

/**
 * Retires an operator: the turn in progress and the next keep their operators, later ones do without this
 * one. The bond stays locked for `releaseDelay` after the last turn.
 *
 * @param signer the operator, or the administrator of a permissioned registry
 * @throws {WalletError} `WALLET_INVALID_DRAFT` if the operator is not registered or has retired, or if the
 *   validity interval is longer
 *   than a turn
 */
export function retireOperator(
  contracts: Contracts,
  element: RegistryElement,
  operator: Uint8Array,
  validity: Validity,
  signer: 'operator' | 'administrator' = 'operator',
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { datum } = element
  const { validFrom, validUntil, slots } = validity
  const { parameters } = contracts
  const entry = datum.operators.find(({ vkey }) => equalBytes(vkey, operator))
  if (entry === undefined) throw invalidDraft(`operator ${toHex(operator)} is not registered`)
  if (entry.activeUntil !== undefined) throw invalidDraft(`operator ${toHex(operator)} has retired`)
  if (slotToTime(slots, validUntil) - slotToTime(slots, validFrom) > parameters.turnLength)
    throw invalidDraft('a retirement is valid for at most one turn')
  const retired = { ...entry, activeUntil: takesEffect(contracts, element, validity) }
  const after = { ...datum, operators: datum.operators.map((each) => (each === entry ? retired : each)) }
  return {
    ...change(contracts, element, { kind: 'retire', operator }, after, 0n, referenceScripts),
    requiredSigners: signer === 'operator' ? [operator] : administratorSigners(parameters),
    validFrom,
    validUntil,
  }
}

/**
 * Returns the bond of a retired operator, who signs, from the first slot in which that is allowed.
 *
 * @throws {WalletError} `WALLET_INVALID_DRAFT` if the operator has not retired
 */
export function releaseBond(
  contracts: Contracts,
  element: RegistryElement,
  operator: Uint8Array,
  slots: SlotConfig,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { datum } = element
  const entry = datum.operators.find(({ vkey }) => equalBytes(vkey, operator))
  if (entry?.activeUntil === undefined) throw invalidDraft(`operator ${toHex(operator)} has not retired`)
  const after = { ...datum, operators: datum.operators.filter((each) => each !== entry) }
  return {
    ...change(contracts, element, { kind: 'release', operator }, after, -entry.bond, referenceScripts),
    requiredSigners: [operator],
    validFrom: firstSlotFrom(slots, entry.activeUntil + contracts.parameters.releaseDelay),
  }
}

/** The draft part that notes the start or end of the queue in the registry. */
export function setQueue(
  contracts: Contracts,
  element: RegistryElement,
  running: boolean,
): { readonly input: DraftInput; readonly output: DraftOutput } {
  refuseOtherQueue(contracts, element)
  return continueRegistry(element, { kind: 'set-queue', running }, { ...element.datum, running })
}

/** The draft part that deletes an operator and pays out the bond but for the penalty. */
export function slashOperator(
  { parameters }: Contracts,
  element: RegistryElement,
  { vkey, bond, activeUntil }: RegisteredOperator,
): { readonly input: DraftInput; readonly output: DraftOutput } {
  const { datum } = element
  const approach = activeUntil === undefined ? 'active' : 'retired'
  return continueRegistry(
    element,
    { kind: 'slash', operator: vkey, approach },
    { ...datum, operators: datum.operators.filter((each) => !equalBytes(each.vkey, vkey)) },
    slashPenaltyOf(parameters) - bond,
  )
}

function refuseOtherQueue({ scripts: { queue } }: Contracts, { datum }: RegistryElement): void {
  if (!equalBytes(datum.queue, queue.script.hash))
    throw invalidDraft(`the registry names another queue, ${toHex(datum.queue)}`)
}

function takesEffect(
  { parameters }: Contracts,
  { datum }: RegistryElement,
  { validFrom, validUntil, slots }: Validity,
): bigint {
  return effectiveTime(
    datum,
    slotToTime(slots, validFrom),
    slotToTime(slots, validUntil),
    parameters.turnLength,
  )
}

function change(
  { scripts: { registry } }: Contracts,
  element: RegistryElement,
  action: RegistryAction,
  after: RegistryDatum,
  lovelace: bigint,
  referenceScripts: readonly Utxo[],
): TransactionDraft {
  const { input, output } = continueRegistry(element, action, after, lovelace)
  return { ...provideScripts([registry], referenceScripts), inputs: [input], outputs: [output] }
}

function continueRegistry(
  { utxo }: RegistryElement,
  action: RegistryAction,
  after: RegistryDatum,
  lovelace = 0n,
): { readonly input: DraftInput; readonly output: DraftOutput } {
  const { address, value } = utxo.output
  return {
    input: { utxo, redeemer: encodeRegistryAction(action) },
    output: {
      address: address.bytes,
      lovelaceAtLeast: value.lovelace + lovelace,
      assets: value.assets,
      datum: { kind: 'inline', data: encodeRegistryDatum(after) },
    },
  }
}

const distinct = (hashes: readonly Uint8Array[]): readonly Uint8Array[] =>
  hashes.filter((hash, place) => hashes.findIndex((other) => equalBytes(hash, other)) === place)
