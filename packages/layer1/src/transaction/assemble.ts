import {
  decodeTransaction,
  type KeyWitness,
  outputReferenceKey,
  scriptIntegrityHash,
  type Transaction,
  type TransactionOutput,
  toHex,
} from '@ratatosk/ledger'
import type { Utxo } from '../types.js'
import type { Collateral } from './collateral.js'
import {
  type BodyContent,
  encodeBody,
  encodeTransaction,
  encodeWitnesses,
  type RedeemerContent,
} from './encode-transaction.js'
import { byReference, invalidDraft, languagesOf, type Plan } from './plan.js'
import type { BuildContext } from './types.js'

/** What is tried out, round after round. */
export interface Draught {
  readonly spent: readonly Utxo[]
  readonly change?: TransactionOutput
  readonly fee: bigint
  readonly collateral?: Collateral
  /** By {@link redeemerKey}; what is not there has no budget yet. */
  readonly budgets: ReadonlyMap<string, Budget>
}

export interface Budget {
  readonly memory: bigint
  readonly steps: bigint
}

const NO_BUDGET: Budget = { memory: 0n, steps: 0n }

/** Names a redeemer by what it is for, which stays the same while inputs are added and indices shift. */
export interface NamedRedeemer extends RedeemerContent {
  readonly key: string
}

/** The transaction as it would be, with signatures of zeros: as long as the real ones. */
export function assemble(
  plan: Plan,
  draught: Draught,
  context: BuildContext,
): { readonly transaction: Transaction; readonly body: Uint8Array } {
  const witnesses = encodeWitnesses(witnessesOf(plan, draught, blankSignatures(context)))
  const content = bodyOf(plan, draught)
  if (!plan.runsScripts) {
    const body = encodeBody(content)
    return { transaction: decodeTransaction(encodeTransaction(body, witnesses)), body }
  }
  const unbound = decodeTransaction(encodeTransaction(encodeBody(content), witnesses))
  const hash = scriptIntegrityHash(unbound, languagesOf(plan, draught.spent), context.parameters)
  const body = encodeBody({ ...content, ...(hash && { scriptDataHash: hash }) })
  return { transaction: decodeTransaction(encodeTransaction(body, witnesses)), body }
}

/**
 * The signed transaction.
 *
 * @param id of the body
 * @throws {WalletError} `WALLET_INVALID_DRAFT` where a signature is needed that nobody gives
 */
export function sign(
  plan: Plan,
  draught: Draught,
  { signers }: BuildContext,
  body: Uint8Array,
  id: Uint8Array,
): Uint8Array {
  const known = new Set(signers.map(({ hash }) => toHex(hash)))
  for (const hash of signaturesNeeded(plan, draught)) {
    if (!known.has(hash)) throw invalidDraft(`nobody signs for key hash ${hash}`)
  }
  const signatures = signers.map((key) => ({ publicKey: key.publicKey, signature: key.sign(id) }))
  return encodeTransaction(body, encodeWitnesses(witnessesOf(plan, draught, signatures)))
}

/** The redeemers with their places among the sorted inputs and policies. */
export function redeemersOf({ draft, mint }: Plan, { spent, budgets }: Draught): readonly NamedRedeemer[] {
  const inputs = spent.map(({ reference }) => reference).sort(byReference)
  const places = new Map(inputs.map((reference, index) => [outputReferenceKey(reference), index]))
  const policies = [...mint.keys()].sort()
  const redeemers: NamedRedeemer[] = []
  const push = (tag: 0 | 1, name: string, index: number, data: Uint8Array): void => {
    const key = redeemerKey(tag, name)
    const { memory, steps } = budgets.get(key) ?? NO_BUDGET
    redeemers.push({ key, tag, index, data, memory, steps })
  }
  for (const { utxo, redeemer } of draft.inputs ?? []) {
    if (redeemer === undefined) continue
    const name = outputReferenceKey(utxo.reference)
    push(0, name, places.get(name) ?? 0, redeemer)
  }
  for (const { policy, redeemer } of draft.mint ?? []) {
    if (redeemer !== undefined) push(1, policy, policies.indexOf(policy), redeemer)
  }
  return redeemers.sort((a, b) => a.tag - b.tag || a.index - b.index)
}

function redeemerKey(tag: 0 | 1, name: string): string {
  return `${tag} ${name}`
}

function bodyOf({ draft, outputs, mint }: Plan, { spent, change, fee, collateral }: Draught): BodyContent {
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

function witnessesOf(plan: Plan, draught: Draught, keyWitnesses: readonly KeyWitness[]) {
  return {
    keyWitnesses,
    scripts: plan.draft.scripts ?? [],
    datums: plan.datums,
    redeemers: redeemersOf(plan, draught),
  }
}

function blankSignatures({ signers }: BuildContext): readonly KeyWitness[] {
  return signers.map(({ publicKey }) => ({ publicKey, signature: new Uint8Array(64) }))
}

function signaturesNeeded({ draft }: Plan, { spent, collateral }: Draught): ReadonlySet<string> {
  const needed = new Set((draft.requiredSigners ?? []).map(toHex))
  for (const { output } of [...spent, ...(collateral?.inputs ?? [])]) {
    const { address } = output
    if (address.kind === 'byron' || address.kind === 'reward') continue
    if (address.payment.kind === 'key') needed.add(toHex(address.payment.hash))
  }
  return needed
}
