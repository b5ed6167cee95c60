import { BytesSet, isDecodeError, toHex } from '@ratatosk/cbor'
import {
  type Assets,
  decodeBech32Address,
  minimumLovelace,
  outputReferenceKey,
  type PlutusLanguage,
  type ProtocolParameters,
  scriptHash,
  type TransactionOutput,
  type Utxo,
} from '../index.js'
import { addAssets, addValue, type Quantities, toValue } from './coin-selection.js'
import { toOutput } from './encode.js'
import { WalletError } from './errors.js'
import type { DraftOutput, TransactionDraft } from './types.js'

/** The parts that a draft fixes before funds and fee are chosen. */
export interface Plan {
  readonly draft: TransactionDraft
  readonly outputs: readonly TransactionOutput[]
  readonly mint: Assets
  /** The amounts that outputs need beyond inputs and minting, by unit; negative ones are surplus. No fee. */
  readonly needed: ReadonlyMap<string, bigint>
  readonly datums: readonly Uint8Array[]
  readonly runsScripts: boolean
}

/** @throws {WalletError} `WALLET_INVALID_DRAFT` */
export function planTransaction(draft: TransactionDraft, parameters: ProtocolParameters): Plan {
  const { inputs = [], mint: mints = [] } = draft
  const keys = new Set(inputs.map(({ utxo }) => outputReferenceKey(utxo.reference)))
  if (keys.size < inputs.length) throw invalidDraft('an input occurs twice')
  const mint = mintOf(draft)
  const outputs = (draft.outputs ?? []).map((output) => fillOutput(output, parameters))
  const needed: Quantities = new Map()
  for (const { value } of outputs) addValue(needed, value)
  for (const { utxo } of inputs) addValue(needed, utxo.output.value, -1n)
  addAssets(needed, mint, -1n)
  const datums = new BytesSet(inputs.flatMap(({ datum }) => datum ?? []))
  const runsScripts = [...inputs, ...mints].some(({ redeemer }) => redeemer !== undefined)
  return { draft, outputs, mint, needed, datums: [...datums], runsScripts }
}

/** The output with its lovelace; the default is the minimum that its size requires. */
function fillOutput(draft: DraftOutput, parameters: ProtocolParameters): TransactionOutput {
  const { assets = new Map(), datum = { kind: 'none' }, referenceScript } = draft
  const address = typeof draft.address === 'string' ? readAddress(draft.address) : draft.address
  const withLovelace = (lovelace: bigint): TransactionOutput => {
    try {
      const value = { lovelace, assets }
      return toOutput({ address, value, datum, ...(referenceScript && { referenceScript }) })
    } catch (error) {
      if (!isDecodeError(error) && !(error instanceof RangeError)) throw error
      throw invalidDraft(`invalid output: ${error.message}`)
    }
  }
  if (draft.lovelace !== undefined) return withLovelace(draft.lovelace)
  // More lovelace can take more bytes, which require more lovelace; this converges within two rounds.
  let output = withLovelace(draft.lovelaceAtLeast ?? 0n)
  for (;;) {
    const required = minimumLovelace(output, parameters)
    if (output.value.lovelace >= required) return output
    output = withLovelace(required)
  }
}

/** The languages of the Plutus scripts that the redeemers run. */
export function languagesOf({ draft }: Plan, spent: readonly Utxo[]): ReadonlySet<PlutusLanguage> {
  const languages = new Map<string, PlutusLanguage>()
  const offer = (language: PlutusLanguage | 'native', bytes: Uint8Array): void => {
    if (language !== 'native') languages.set(toHex(scriptHash(language, bytes)), language)
  }
  for (const { language, bytes } of draft.scripts ?? []) offer(language, bytes)
  for (const { output } of [...spent, ...(draft.referenceInputs ?? [])]) {
    if (output.referenceScript) offer(output.referenceScript.language, output.referenceScript.bytes)
  }
  const needed = new Set<PlutusLanguage>()
  const need = (hash: string): void => {
    const language = languages.get(hash)
    if (language === undefined)
      throw invalidDraft(`script ${hash} is neither among the draft's scripts nor in a reference script`)
    needed.add(language)
  }
  for (const { utxo, redeemer } of draft.inputs ?? []) {
    if (redeemer === undefined) continue
    const { address } = utxo.output
    if (address.kind === 'byron' || address.kind === 'reward' || address.payment.kind !== 'script') {
      throw invalidDraft(
        `a redeemer for ${outputReferenceKey(utxo.reference)}, which is not locked by a script`,
      )
    }
    need(toHex(address.payment.hash))
  }
  for (const { policy, redeemer } of draft.mint ?? []) if (redeemer !== undefined) need(policy)
  return needed
}

export function invalidDraft(reason: string): WalletError {
  return new WalletError('WALLET_INVALID_DRAFT', `Invalid draft: ${reason}`)
}

function mintOf({ mint = [] }: TransactionDraft): Assets {
  const quantities: Quantities = new Map()
  const policies = new Set<string>()
  for (const { policy, assets } of mint) {
    if (!/^[0-9a-f]{56}$/.test(policy)) throw invalidDraft('a policy is 56 lower-case hex digits')
    if (policies.has(policy)) throw invalidDraft(`policy ${policy} occurs twice`)
    policies.add(policy)
    addAssets(quantities, new Map([[policy, assets]]))
  }
  return toValue(quantities).assets
}

function readAddress(text: string): Uint8Array {
  try {
    return decodeBech32Address(text).bytes
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw invalidDraft(`invalid address: ${error.message}`)
  }
}
