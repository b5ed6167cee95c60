import { BytesSet, toHex } from '@ratatosk/cbor'
import {
  byReference,
  decodeTransaction,
  type KeyWitness,
  minimumLovelace,
  outputReferenceKey,
  type ProtocolParameters,
  scriptIntegrityHash,
  type Transaction,
  type TransactionOutput,
  type Utxo,
} from '../index.js'
import type { ExecutionUnits } from '../rules/script-evaluator.js'
import { addQuantity, addValue, lovelaceUnit, type Quantities, toValue } from './coin-selection.js'
import {
  type BodyContent,
  encodeBody,
  encodeTransaction,
  encodeWitnesses,
  type RedeemerContent,
  toOutput,
} from './encode.js'
import { WalletError } from './errors.js'
import { invalidDraft, languagesOf, type Plan } from './plan.js'
import type { BuildContext, PlaceOfInput } from './types.js'

/** One candidate for the transaction; each round of fee and budget settling makes another. */
export interface Attempt {
  readonly spent: readonly Utxo[]
  readonly change?: TransactionOutput
  readonly fee: bigint
  readonly collateral?: Collateral
  /** By {@link redeemerKey}; a redeemer without an entry has no budget yet. */
  readonly budgets: ReadonlyMap<string, ExecutionUnits>
}

const noBudget: ExecutionUnits = { memory: 0n, steps: 0n }

/** A redeemer with a key that stays the same while added inputs shift the indices. */
interface NamedRedeemer extends RedeemerContent {
  readonly key: string
}

/** The transaction with signatures of zeros, which have the length of the real ones. */
export function assemble(
  plan: Plan,
  attempt: Attempt,
  context: BuildContext,
): { readonly transaction: Transaction; readonly body: Uint8Array } {
  const witnesses = encodeWitnesses(witnessesOf(plan, attempt, blankSignatures(context)))
  const content = bodyOf(plan, attempt)
  if (!plan.runsScripts) {
    const body = encodeBody(content)
    return { transaction: decodeTransaction(encodeTransaction(body, witnesses)), body }
  }
  const unbound = decodeTransaction(encodeTransaction(encodeBody(content), witnesses))
  const hash = scriptIntegrityHash(unbound, languagesOf(plan, attempt.spent), context.parameters)
  const body = encodeBody({ ...content, ...(hash && { scriptDataHash: hash }) })
  return { transaction: decodeTransaction(encodeTransaction(body, witnesses)), body }
}

/** Signs the transaction by its id. Throws `WALLET_INVALID_DRAFT` when a required signer is missing. */
export function sign(
  plan: Plan,
  attempt: Attempt,
  { signers }: BuildContext,
  body: Uint8Array,
  id: Uint8Array,
): Uint8Array {
  const known = new BytesSet(signers.map(({ hash }) => hash))
  for (const hash of signaturesNeeded(plan, attempt)) {
    if (!known.has(hash)) throw invalidDraft(`no signer has key hash ${toHex(hash)}`)
  }
  const signatures = signers.map((key) => ({ publicKey: key.publicKey, signature: key.sign(id) }))
  return encodeTransaction(body, encodeWitnesses(witnessesOf(plan, attempt, signatures)))
}

/** The redeemers with their indices among the sorted inputs and policies. */
export function redeemersOf({ draft, mint }: Plan, { spent, budgets }: Attempt): readonly NamedRedeemer[] {
  const inputs = spent.map(({ reference }) => reference).sort(byReference)
  const places = new Map(inputs.map((reference, index) => [outputReferenceKey(reference), index]))
  const policies = [...mint.keys()].sort()
  const redeemers: NamedRedeemer[] = []
  const push = (tag: 0 | 1, name: string, index: number, data: Uint8Array): void => {
    const key = redeemerKey(tag, name)
    const { memory, steps } = budgets.get(key) ?? noBudget
    redeemers.push({ key, tag, index, data, memory, steps })
  }
  const placeOf: PlaceOfInput = ({ reference }) => {
    const name = outputReferenceKey(reference)
    const place = places.get(name)
    if (place === undefined) throw invalidDraft(`a redeemer names ${name}, which is not spent`)
    return place
  }
  for (const { utxo, redeemer } of draft.inputs ?? []) {
    if (redeemer === undefined) continue
    const data = typeof redeemer === 'function' ? redeemer(placeOf) : redeemer
    push(0, outputReferenceKey(utxo.reference), placeOf(utxo), data)
  }
  for (const { policy, redeemer } of draft.mint ?? []) {
    if (redeemer !== undefined) push(1, policy, policies.indexOf(policy), redeemer)
  }
  return redeemers.sort((a, b) => a.tag - b.tag || a.index - b.index)
}

function redeemerKey(tag: 0 | 1, name: string): string {
  return `${tag} ${name}`
}

function bodyOf({ draft, outputs, mint }: Plan, { spent, change, fee, collateral }: Attempt): BodyContent {
  const { validFrom, validUntil, requiredSigners = [], referenceInputs = [] } = draft
  const references = (utxos: readonly Utxo[]) => utxos.map(({ reference }) => reference).sort(byReference)
  return {
    inputs: references(spent),
    outputs: [...outputs, ...(change ? [change] : [])].map(({ bytes }) => bytes),
    fee,
    ...(validUntil !== undefined && { validUntil }),
    ...(validFrom !== undefined && { validFrom }),
    mint,
    collateral: references(collateral?.inputs ?? []),
    requiredSigners,
    ...(collateral?.change && { collateralReturn: collateral.change }),
    ...(collateral && { totalCollateral: collateral.total }),
    referenceInputs: references(referenceInputs),
  }
}

function witnessesOf(plan: Plan, attempt: Attempt, keyWitnesses: readonly KeyWitness[]) {
  return {
    keyWitnesses,
    scripts: plan.draft.scripts ?? [],
    datums: plan.datums,
    redeemers: redeemersOf(plan, attempt),
  }
}

function blankSignatures({ signers }: BuildContext): readonly KeyWitness[] {
  return signers.map(({ publicKey }) => ({ publicKey, signature: new Uint8Array(64) }))
}

function signaturesNeeded({ draft }: Plan, { spent, collateral }: Attempt): BytesSet {
  const needed = new BytesSet(draft.requiredSigners)
  for (const { output } of [...spent, ...(collateral?.inputs ?? [])]) {
    const { address } = output
    if (address.kind === 'byron' || address.kind === 'reward') continue
    if (address.payment.kind === 'key') needed.add(address.payment.hash)
  }
  return needed
}

interface Collateral {
  readonly inputs: readonly Utxo[]
  /** Lovelace that is lost if a script fails. */
  readonly total: bigint
  /** The collateral return output, encoded; absent when the whole inputs are at stake. */
  readonly change?: Uint8Array
}

/**
 * Chooses collateral for a fee. Prefers outputs that the transaction spends anyway, so that no further output
 * is withheld from other transactions. Throws `WALLET_INSUFFICIENT_FUNDS`.
 */
export function chooseCollateral(
  spent: readonly Utxo[],
  funds: readonly Utxo[],
  fee: bigint,
  changeAddress: Uint8Array,
  parameters: ProtocolParameters,
): Collateral {
  const required = (fee * parameters.collateralPercentage + 99n) / 100n
  for (const candidates of [spent, funds]) {
    const found = cover(candidates, required, changeAddress, parameters)
    if (found) return found
  }
  throw new WalletError('WALLET_INSUFFICIENT_FUNDS', `The wallet has no collateral of ${required} lovelace`, {
    missing: new Map([[lovelaceUnit, required]]),
  })
}

function cover(
  candidates: readonly Utxo[],
  required: bigint,
  changeAddress: Uint8Array,
  parameters: ProtocolParameters,
): Collateral | undefined {
  const inputs: Utxo[] = []
  const rest: Quantities = new Map()
  addQuantity(rest, lovelaceUnit, -required)
  for (const utxo of [...candidates].sort(byWorth)) {
    if (inputs.length >= parameters.maxCollateralInputs) return undefined
    inputs.push(utxo)
    addValue(rest, utxo.output.value)
    if (rest.size === 0) return { inputs, total: required }
    if ((rest.get(lovelaceUnit) ?? 0n) <= 0n) continue
    const change = toOutput({ address: changeAddress, value: toValue(rest), datum: { kind: 'none' } })
    if (change.value.lovelace >= minimumLovelace(change, parameters)) {
      return { inputs, total: required, change: change.bytes }
    }
  }
  return undefined
}

/** Pure-ada outputs first, then by descending lovelace; ties by reference, for a deterministic order. */
function byWorth(a: Utxo, b: Utxo): number {
  const [x, y] = [a.output.value, b.output.value]
  if ((x.assets.size === 0) !== (y.assets.size === 0)) return x.assets.size === 0 ? -1 : 1
  if (x.lovelace !== y.lovelace) return x.lovelace > y.lovelace ? -1 : 1
  return outputReferenceKey(a.reference) < outputReferenceKey(b.reference) ? -1 : 1
}
