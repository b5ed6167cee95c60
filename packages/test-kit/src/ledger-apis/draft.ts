import { readFileSync } from 'node:fs'
import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import {
  encodeAssets,
  encodeBytes,
  encodeFields,
  encodeInput,
  encodeList,
  encodeOutput,
  encodeUint,
  type OutputDraft,
  witnessOf,
} from '@ratatosk/fixtures'
import {
  blake2b256,
  decodeTransaction,
  type ProtocolParameters,
  parseProtocolParameters,
  scriptIntegrityHash,
} from '@ratatosk/ledger'
import type { ExecutionUnits } from '@ratatosk/ledger/plutus'
import type { TestKey } from './keys.js'

/** A datum hash makes it an output in the format of Alonzo, an array, as CML writes datum hashes. */
export interface DraftOutput extends Omit<OutputDraft, 'assets' | 'script'> {
  /** Policy id and asset name in hex, joined → quantity. */
  readonly assets?: Readonly<Record<string, bigint>>
  /** A Plutus V3 script. */
  readonly referenceScript?: Uint8Array
}

export interface Draft {
  /** `<64 hex digits>#<index>`. */
  readonly inputs: readonly string[]
  readonly outputs: readonly DraftOutput[]
  readonly fee: bigint
  readonly signers: readonly TestKey[]
  readonly invalidBefore?: bigint
  readonly invalidHereafter?: bigint
  readonly certificates?: readonly StakeCertificate[]
  /** Reward addresses with lovelace. */
  readonly withdrawals?: readonly (readonly [address: Uint8Array, lovelace: bigint])[]
  readonly mint?: Readonly<Record<string, bigint>>
  /** CBOR of the auxiliary data. */
  readonly auxiliaryData?: Uint8Array
  readonly collateral?: readonly string[]
  readonly referenceInputs?: readonly string[]
  /** Plutus V3 scripts. */
  readonly scripts?: readonly Uint8Array[]
  readonly redeemers?: readonly Redeemer[]
  readonly isValid?: boolean
  readonly parameters?: ProtocolParameters
}

/** A stake certificate: `[0 / 1, credential]`, or with a deposit `[7 / 8, credential, deposit]`. */
export interface StakeCertificate {
  readonly registers: boolean
  readonly keyHash: Uint8Array
  /** Whether it is the hash of a script. Default false. */
  readonly isScript?: boolean
  readonly deposit?: bigint
}

interface Redeemer extends ExecutionUnits {
  /** 0: spend, 1: mint, 3: withdraw. */
  readonly tag: number
  readonly index: number
}

export const unitDatum = fromHex('d87980')

/** The parameters of `@ratatosk/devnet`. */
export function devnetParameters(): ProtocolParameters {
  const file = new URL('../../../devnet/parameters/devnet-11.json', import.meta.url)
  return parseProtocolParameters(JSON.parse(readFileSync(file, 'utf8')))
}

/** Writes and signs a transaction. Nothing is checked or balanced, so that tests can write invalid ones. */
export function draft(transaction: Draft): { readonly cbor: Uint8Array; readonly hash: string } {
  const unbound = write(transaction, undefined)
  if (!transaction.redeemers) return unbound
  const languages = new Set(['PlutusV3' as const])
  const parameters = transaction.parameters ?? devnetParameters()
  return write(transaction, scriptIntegrityHash(decodeTransaction(unbound.cbor), languages, parameters))
}

function write(transaction: Draft, integrity: Uint8Array | undefined): { cbor: Uint8Array; hash: string } {
  const body = encodeFields(bodyOf(transaction, integrity))
  const id = blake2b256(body)
  const witnesses = encodeFields(witnessesOf(transaction, id))
  const cbor = new CborWriter()
    .array(4)
    .raw(body)
    .raw(witnesses)
    .boolean(transaction.isValid ?? true)
  const { auxiliaryData } = transaction
  return { cbor: (auxiliaryData ? cbor.raw(auxiliaryData) : cbor.null()).toBytes(), hash: toHex(id) }
}

/** Inputs and witnesses are lists, not sets, as before Conway. */
function bodyOf(transaction: Draft, integrity: Uint8Array | undefined): Map<number, Uint8Array> {
  const { invalidBefore, invalidHereafter, certificates, withdrawals, mint } = transaction
  const { collateral, referenceInputs, auxiliaryData } = transaction
  return present([
    [0, encodeInputs(transaction.inputs)],
    [1, encodeList(transaction.outputs.map(outputOf))],
    [2, encodeUint(transaction.fee)],
    [3, invalidHereafter === undefined ? undefined : encodeUint(invalidHereafter)],
    [4, certificates && encodeList(certificates.map(encodeCertificate))],
    [5, withdrawals && encodeWithdrawals(withdrawals)],
    [7, auxiliaryData && encodeBytes(blake2b256(auxiliaryData))],
    [8, invalidBefore === undefined ? undefined : encodeUint(invalidBefore)],
    [9, mint && encodeAssets(assetsOf(mint))],
    [11, integrity && encodeBytes(integrity)],
    [13, collateral && encodeInputs(collateral)],
    [18, referenceInputs && encodeInputs(referenceInputs)],
  ])
}

function witnessesOf({ signers, scripts = [], redeemers = [] }: Draft, id: Uint8Array) {
  const some = (items: readonly Uint8Array[]) => (items.length > 0 ? encodeList(items) : undefined)
  return present([
    [0, some(signers.map((signer) => witnessOf(signer, id)))],
    [5, some(redeemers.map(encodeRedeemer))],
    [7, some(scripts.map(encodeBytes))],
  ])
}

function present(fields: readonly (readonly [number, Uint8Array | undefined])[]): Map<number, Uint8Array> {
  return new Map(fields.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])))
}

function encodeInputs(inputs: readonly string[]): Uint8Array {
  return encodeList(
    inputs.map((input) => {
      const [id = '', index] = input.split('#')
      return encodeInput(fromHex(id), Number(index))
    }),
  )
}

function encodeCertificate({ registers, keyHash, isScript = false, deposit }: StakeCertificate): Uint8Array {
  const kind = registers ? 0 : 1
  const writer = new CborWriter()
  writer.array(deposit === undefined ? 2 : 3).uint(deposit === undefined ? kind : kind + 7)
  writer
    .array(2)
    .uint(isScript ? 1 : 0)
    .bytes(keyHash)
  if (deposit !== undefined) writer.uint(deposit)
  return writer.toBytes()
}

function encodeWithdrawals(withdrawals: NonNullable<Draft['withdrawals']>): Uint8Array {
  const writer = new CborWriter().map(withdrawals.length)
  for (const [address, lovelace] of withdrawals) writer.bytes(address).uint(lovelace)
  return writer.toBytes()
}

function encodeRedeemer({ tag, index, memory, steps }: Redeemer): Uint8Array {
  const writer = new CborWriter().array(4).uint(tag).uint(index).raw(unitDatum)
  return writer.array(2).uint(memory).uint(steps).toBytes()
}

function outputOf({ assets, referenceScript, datumHash, ...output }: DraftOutput): Uint8Array {
  if (datumHash) {
    return new CborWriter().array(3).bytes(output.address).uint(output.lovelace).bytes(datumHash).toBytes()
  }
  return encodeOutput({
    ...output,
    ...(assets && { assets: assetsOf(assets) }),
    ...(referenceScript && { script: new CborWriter().array(2).uint(3).bytes(referenceScript).toBytes() }),
  })
}

function assetsOf(assets: Readonly<Record<string, bigint>>): NonNullable<OutputDraft['assets']> {
  return Object.entries(assets).map(
    ([unit, quantity]) => [fromHex(unit.slice(0, 56)), unit.slice(56), quantity] as const,
  )
}
