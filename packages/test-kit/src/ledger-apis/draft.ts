import { readFileSync } from 'node:fs'
import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransaction,
  type ProtocolParameters,
  parseProtocolParameters,
  scriptIntegrityHash,
} from '@ratatosk/ledger'
import type { TestKey } from './keys.js'

export interface DraftOutput {
  readonly address: Uint8Array
  readonly lovelace: bigint
  /** Plutus data. */
  readonly inlineDatum?: Uint8Array
  /** Makes it an output in the format of Alonzo, an array, as CML writes datum hashes. */
  readonly datumHash?: Uint8Array
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
  readonly collateral?: readonly string[]
  readonly referenceInputs?: readonly string[]
  /** Plutus V3 scripts. */
  readonly scripts?: readonly Uint8Array[]
  readonly redeemers?: readonly Redeemer[]
  readonly isValid?: boolean
  readonly parameters?: ProtocolParameters
}

/** A stake certificate of a key: `[0 / 1, credential]`, or with a deposit `[7 / 8, credential, deposit]`. */
export interface StakeCertificate {
  readonly registers: boolean
  readonly keyHash: Uint8Array
  readonly deposit?: bigint
}

interface Redeemer {
  /** 0: spend, 1: mint. */
  readonly tag: number
  readonly index: number
  readonly memory: bigint
  readonly steps: bigint
}

export const unitDatum = fromHex('d87980')

/** The parameters of `@ratatosk/devnet`. */
export function devnetParameters(): ProtocolParameters {
  const file = new URL('../../../devnet/parameters/devnet.json', import.meta.url)
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
  const body = writeBody(transaction, integrity)
  const id = blake2b256(body)
  const cbor = new CborWriter()
    .array(4)
    .raw(body)
    .raw(writeWitnesses(transaction, id))
    .boolean(transaction.isValid ?? true)
    .null()
    .toBytes()
  return { cbor, hash: toHex(id) }
}

function writeBody(transaction: Draft, integrity: Uint8Array | undefined): Uint8Array {
  const fields: [number, (writer: CborWriter) => CborWriter][] = [
    [0, (writer) => writeInputs(writer, transaction.inputs)],
    [
      1,
      (writer) => {
        writer.array(transaction.outputs.length)
        for (const output of transaction.outputs) writeOutput(writer, output)
        return writer
      },
    ],
    [2, (writer) => writer.uint(transaction.fee)],
  ]
  const { invalidBefore, invalidHereafter, mint, collateral, referenceInputs } = transaction
  if (invalidHereafter !== undefined) fields.push([3, (writer) => writer.uint(invalidHereafter)])
  const { certificates, withdrawals } = transaction
  if (certificates) fields.push([4, (writer) => writeCertificates(writer, certificates)])
  if (withdrawals) {
    fields.push([
      5,
      (writer) => {
        writer.map(withdrawals.length)
        for (const [address, lovelace] of withdrawals) writer.bytes(address).uint(lovelace)
        return writer
      },
    ])
  }
  if (invalidBefore !== undefined) fields.push([8, (writer) => writer.uint(invalidBefore)])
  if (mint) fields.push([9, (writer) => writeAssets(writer, mint)])
  if (integrity) fields.push([11, (writer) => writer.bytes(integrity)])
  if (collateral) fields.push([13, (writer) => writeInputs(writer, collateral)])
  if (referenceInputs) fields.push([18, (writer) => writeInputs(writer, referenceInputs)])
  const writer = new CborWriter().map(fields.length)
  for (const [key, write] of fields) write(writer.uint(key))
  return writer.toBytes()
}

function writeInputs(writer: CborWriter, inputs: readonly string[]): CborWriter {
  writer.array(inputs.length)
  for (const input of inputs) {
    const [id = '', index] = input.split('#')
    writer.array(2).bytes(fromHex(id)).uint(Number(index))
  }
  return writer
}

function writeCertificates(writer: CborWriter, certificates: readonly StakeCertificate[]): CborWriter {
  writer.array(certificates.length)
  for (const { registers, keyHash, deposit } of certificates) {
    const kind = registers ? 0 : 1
    writer.array(deposit === undefined ? 2 : 3).uint(deposit === undefined ? kind : kind + 7)
    writer.array(2).uint(0).bytes(keyHash)
    if (deposit !== undefined) writer.uint(deposit)
  }
  return writer
}

function writeOutput(
  writer: CborWriter,
  { address, lovelace, inlineDatum, datumHash, assets, referenceScript }: DraftOutput,
): void {
  if (datumHash) {
    writer.array(3).bytes(address).uint(lovelace).bytes(datumHash)
    return
  }
  writer.map(2 + (inlineDatum ? 1 : 0) + (referenceScript ? 1 : 0))
  writer.uint(0).bytes(address).uint(1)
  if (assets) writeAssets(writer.array(2).uint(lovelace), assets)
  else writer.uint(lovelace)
  if (inlineDatum) writer.uint(2).array(2).uint(1).tag(24).bytes(inlineDatum)
  if (referenceScript) {
    writer.uint(3).tag(24).bytes(new CborWriter().array(2).uint(3).bytes(referenceScript).toBytes())
  }
}

function writeAssets(writer: CborWriter, assets: Readonly<Record<string, bigint>>): CborWriter {
  const units = Object.entries(assets)
  writer.map(units.length)
  for (const [unit, quantity] of units) {
    writer
      .bytes(fromHex(unit.slice(0, 56)))
      .map(1)
      .bytes(fromHex(unit.slice(56)))
      .int(quantity)
  }
  return writer
}

function writeWitnesses({ signers, scripts = [], redeemers = [] }: Draft, id: Uint8Array): Uint8Array {
  const writer = new CborWriter().map([signers, scripts, redeemers].filter(({ length }) => length > 0).length)
  if (signers.length > 0) writer.uint(0).array(signers.length)
  for (const signer of signers) writer.array(2).bytes(signer.publicKey).bytes(signer.sign(id))
  if (redeemers.length > 0) {
    writer.uint(5).array(redeemers.length)
    for (const { tag, index, memory, steps } of redeemers) {
      writer.array(4).uint(tag).uint(index).raw(unitDatum).array(2).uint(memory).uint(steps)
    }
  }
  if (scripts.length > 0) {
    writer.uint(7).array(scripts.length)
    for (const script of scripts) writer.bytes(script)
  }
  return writer.toBytes()
}
