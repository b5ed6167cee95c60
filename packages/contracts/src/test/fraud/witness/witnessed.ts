import { concatBytes } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransaction,
  encodeOutputReference,
  type OutputReference,
  type PlutusLanguage,
  scriptHash,
  scriptIntegrityHash,
} from '@ratatosk/ledger'
import { parameters } from '../../evaluate.js'
import type { TestKey } from '../../keys.js'
import { noteOutputs } from '../blocks.js'
import type { Draw } from '../draw.js'
import { looseEncoder } from '../loose-bodies.js'

/*
 * Transactions with signatures, scripts, redeemers and datums, in any encoding that layer 2 accepts.
 */

/** A Plutus script in a witness set or an output. */
export interface Plutus {
  readonly language: PlutusLanguage
  readonly bytes: Uint8Array
}

export const hashOf = ({ language, bytes }: Plutus): Uint8Array => scriptHash(language, bytes)
export const hashOfNative = (script: Uint8Array): Uint8Array => scriptHash('native', script)

export interface WitnessedDraft {
  readonly inputs: readonly OutputReference[]
  readonly referenceInputs?: readonly OutputReference[]
  readonly outputs: readonly Uint8Array[]
  /** Policies, each of which mints one token without a name. */
  readonly mint?: readonly Uint8Array[]
  /** Accounts, from each of which nothing is withdrawn. */
  readonly withdrawals?: readonly Uint8Array[]
  /** Hashes of keys. */
  readonly required?: readonly Uint8Array[]
  readonly validFrom?: number
  readonly validTo?: number
  readonly signers: readonly TestKey[]
  readonly bootstrap?: readonly TestKey[]
  readonly nativeScripts?: readonly Uint8Array[]
  readonly plutus?: readonly Plutus[]
  readonly datums?: readonly Uint8Array[]
  readonly redeemers?: readonly (readonly [purpose: number, index: number])[]
  readonly languages?: readonly PlutusLanguage[]
  /** In place of the right script data hash; null for none. */
  readonly scriptDataHash?: Uint8Array | null
  /** The bytes that the keys sign in place of the transaction's id. */
  readonly signed?: (key: TestKey, id: Uint8Array) => Uint8Array
}

export interface WitnessedTransaction {
  readonly id: Uint8Array
  readonly body: Uint8Array
  readonly witnesses: Uint8Array
  readonly cbor: Uint8Array
}

const byLanguage = { PlutusV1: 3, PlutusV2: 6, PlutusV3: 7 } as const

/** Encodes and signs a transaction. @param draw draws the encoding; the common one by default */
export function witnessed(draft: WitnessedDraft, draw: Draw = () => 0): WitnessedTransaction {
  const { uint, bytes, array, map, set } = looseEncoder(draw, false)
  type Field = readonly [number, Uint8Array]
  const fields = (entries: readonly Field[]) => {
    const encoded = entries.map(([key, value]) => [uint(key), value] as const)
    return map(draw(4) === 3 ? encoded.reverse() : encoded)
  }
  const references = (all: readonly OutputReference[]) => set(all.map(encodeOutputReference))
  const { referenceInputs = [], mint = [], withdrawals = [], required = [] } = draft
  const bodyFields: Field[] = [
    [0, references(draft.inputs)],
    [1, array(draft.outputs)],
    [2, uint(200_000)],
  ]
  if (draft.validTo !== undefined) bodyFields.push([3, uint(draft.validTo)])
  if (withdrawals.length > 0)
    bodyFields.push([5, map(withdrawals.map((account) => [bytes(account), uint(0)] as const))])
  if (draft.validFrom !== undefined) bodyFields.push([8, uint(draft.validFrom)])
  if (mint.length > 0) {
    const one = () => map([[bytes(new Uint8Array()), uint(1)]])
    bodyFields.push([9, map(mint.map((policy) => [bytes(policy), one()] as const))])
  }
  if (required.length > 0) bodyFields.push([14, set(required.map(bytes))])
  if (referenceInputs.length > 0) bodyFields.push([18, references(referenceInputs)])

  const { nativeScripts = [], plutus = [], datums = [], redeemers = [] } = draft
  const witnessFields: Field[] = []
  if (nativeScripts.length > 0) witnessFields.push([1, set(nativeScripts)])
  for (const [language, key] of Object.entries(byLanguage)) {
    const scripts = plutus.filter((script) => script.language === language)
    if (scripts.length > 0) witnessFields.push([key, set(scripts.map((script) => bytes(script.bytes)))])
  }
  if (datums.length > 0) witnessFields.push([4, set(datums)])
  if (redeemers.length > 0) {
    const units = () => array([uint(1_000), uint(1_000_000)], true)
    const data = () => uint(42)
    const list = draw(2) === 1
    witnessFields.push([
      5,
      list
        ? array(redeemers.map(([purpose, index]) => array([uint(purpose), uint(index), data(), units()])))
        : map(
            redeemers.map(
              ([purpose, index]) =>
                [array([uint(purpose), uint(index)]), array([data(), units()], true)] as const,
            ),
          ),
    ])
  }
  const framed = (body: Uint8Array, witnesses: Uint8Array) =>
    concatBytes(Uint8Array.of(0x84), body, witnesses, Uint8Array.of(0xf5, 0xf6))
  const { scriptDataHash, languages = [], signed } = draft
  const right = scriptIntegrityHash(
    decodeTransaction(framed(fields(bodyFields), fields(witnessFields))),
    new Set(languages),
    parameters,
  )
  const stated = scriptDataHash === undefined ? right : scriptDataHash
  if (stated) bodyFields.push([11, bytes(stated)])
  const body = fields(bodyFields)
  const id = blake2b256(body)
  const signature = (key: TestKey) => bytes(key.sign(signed?.(key, id) ?? id))
  const key = ({ publicKey }: TestKey) => bytes(publicKey)
  const { signers, bootstrap = [] } = draft
  if (signers.length > 0)
    witnessFields.unshift([0, set(signers.map((signer) => array([key(signer), signature(signer)], true)))])
  if (bootstrap.length > 0) {
    const rest = [bytes(new Uint8Array(32)), bytes(Uint8Array.of(0xa0))]
    witnessFields.push([
      2,
      set(bootstrap.map((signer) => array([key(signer), signature(signer), ...rest], true))),
    ])
  }
  const witnesses = fields(witnessFields)
  noteOutputs(id, draft.outputs)
  return { id, body, witnesses, cbor: framed(body, witnesses) }
}
