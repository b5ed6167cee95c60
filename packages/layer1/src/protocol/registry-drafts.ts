import {
  decodeRegistryDatum,
  encodeRegistryAction,
  encodeRegistryDatum,
  type RegistryAction,
  type RegistryDatum,
} from '@ratatosk/contracts'
import { equalBytes, type SlotConfig, slotToTime } from '@ratatosk/ledger'
import { invalidDraft } from '../transaction/plan.js'
import type { TransactionDraft } from '../transaction/types.js'
import type { Utxo } from '../types.js'
import { bringScript, type Contracts } from './contracts.js'
import { firstSlotFrom } from './queue-drafts.js'

export interface RegistryElement {
  readonly utxo: Utxo
  readonly datum: RegistryDatum
}

/**
 * The operator registry among outputs, as `layer1.utxosByUnit(contracts.registry.unit)` finds it; undefined where there is
 * none.
 *
 * @throws MalformedData where its datum is none: its validator lets no such thing happen
 */
export function readRegistry({ registry }: Contracts, utxos: readonly Utxo[]): RegistryElement | undefined {
  const name = registry.unit.slice(56)
  const utxo = utxos.find(({ output }) => output.value.assets.get(registry.policy)?.has(name))
  if (utxo?.output.datum.kind !== 'inline') return undefined
  return { utxo, datum: decodeRegistryDatum(utxo.output.datum.data) }
}

/** Begins a registry without operators. The administrator signs. */
export function initRegistry(contracts: Contracts, library: readonly Utxo[] = []): TransactionDraft {
  const { registry, parameters } = contracts
  const token = new Map([[registry.unit.slice(56), 1n]])
  return {
    ...bringScript(registry, library),
    mint: [{ policy: registry.policy, assets: token, redeemer: encodeRegistryAction({ kind: 'init' }) }],
    outputs: [
      {
        address: registry.address,
        assets: new Map([[registry.policy, token]]),
        datum: { kind: 'inline', data: encodeRegistryDatum({ active: [], retired: [] }) },
      },
    ],
    requiredSigners: [parameters.administrator],
  }
}

/** Adds an operator, who signs and leaves the bond. */
export function registerOperator(
  contracts: Contracts,
  element: RegistryElement,
  operator: Uint8Array,
  library: readonly Utxo[] = [],
): TransactionDraft {
  const { bond } = contracts.parameters
  const { active, retired } = element.datum
  const after = { active: [{ vkey: operator, bond }, ...active], retired }
  return change(contracts, element, { kind: 'register', operator }, after, bond, library)
}

/**
 * Takes an operator, who signs, out of the turns; the bond stays until `releaseDelay` after the end of the transaction's validity.
 *
 * @param validUntil slot
 * @throws {WalletError} `WALLET_INVALID_DRAFT` where the operator is not active
 */
export function retireOperator(
  contracts: Contracts,
  element: RegistryElement,
  operator: Uint8Array,
  validUntil: bigint,
  slots: SlotConfig,
  library: readonly Utxo[] = [],
): TransactionDraft {
  const { active, retired } = element.datum
  const leaving = active.find(({ vkey }) => equalBytes(vkey, operator))
  if (leaving === undefined) throw invalidDraft('an operator who is not active')
  const releaseTime = slotToTime(slots, validUntil) + contracts.parameters.releaseDelay
  const after = {
    active: active.filter((other) => other !== leaving),
    retired: [{ ...leaving, releaseTime }, ...retired],
  }
  return { ...change(contracts, element, { kind: 'retire', operator }, after, 0n, library), validUntil }
}

/**
 * Gives a retired operator, who signs, the bond back, from the first slot on in which that may be.
 *
 * @throws {WalletError} `WALLET_INVALID_DRAFT` where the operator is not retired
 */
export function releaseBond(
  contracts: Contracts,
  element: RegistryElement,
  operator: Uint8Array,
  slots: SlotConfig,
  library: readonly Utxo[] = [],
): TransactionDraft {
  const { active, retired } = element.datum
  const leaving = retired.find(({ vkey }) => equalBytes(vkey, operator))
  if (leaving === undefined) throw invalidDraft('an operator who is not retired')
  const after = { active, retired: retired.filter((other) => other !== leaving) }
  const validFrom = firstSlotFrom(slots, leaving.releaseTime)
  const draft = change(contracts, element, { kind: 'release', operator }, after, -leaving.bond, library)
  return { ...draft, validFrom }
}

function change(
  { registry }: Contracts,
  { utxo }: RegistryElement,
  action: RegistryAction & { readonly operator: Uint8Array },
  after: RegistryDatum,
  lovelace: bigint,
  library: readonly Utxo[],
): TransactionDraft {
  const { address, value } = utxo.output
  return {
    ...bringScript(registry, library),
    inputs: [{ utxo, redeemer: encodeRegistryAction(action) }],
    outputs: [
      {
        address: address.bytes,
        lovelaceAtLeast: value.lovelace + lovelace,
        assets: value.assets,
        datum: { kind: 'inline', data: encodeRegistryDatum(after) },
      },
    ],
    requiredSigners: [action.operator],
  }
}
