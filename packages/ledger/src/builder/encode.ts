import { CborWriter, fromHex } from '@ratatosk/cbor'
import {
  type Assets,
  decodeLayer1Output,
  decodeTransactionOutput,
  type KeyWitness,
  type OutputDatum,
  type OutputReference,
  type Script,
  type TransactionOutput,
  type Value,
} from '../index.js'
import type { ExecutionUnits } from '../rules/script-evaluator.js'

/** Tag of a set in the Conway CDDL (CIP-21). */
export const setTag = 258

export interface RedeemerContent extends ExecutionUnits {
  /** 0: spend, 1: mint. */
  readonly tag: 0 | 1
  readonly index: number
  readonly data: Uint8Array
}

/** The fields of a body; lists are written in the given order. */
export interface BodyContent {
  readonly inputs: readonly OutputReference[]
  /** Encoded. */
  readonly outputs: readonly Uint8Array[]
  readonly fee: bigint
  readonly validUntil?: bigint
  readonly validFrom?: bigint
  readonly mint?: Assets
  readonly scriptDataHash?: Uint8Array
  readonly collateral: readonly OutputReference[]
  readonly requiredSigners: readonly Uint8Array[]
  /** Encoded. */
  readonly collateralReturn?: Uint8Array
  readonly totalCollateral?: bigint
  readonly referenceInputs: readonly OutputReference[]
}

export interface WitnessContent {
  readonly keyWitnesses: readonly KeyWitness[]
  readonly scripts: readonly ScriptContent[]
  readonly datums: readonly Uint8Array[]
  readonly redeemers: readonly RedeemerContent[]
}

/** A transaction body of the Conway era, fields in ascending order. */
export function encodeBody(body: BodyContent): Uint8Array {
  const fields: [key: number, write: (writer: CborWriter) => void][] = [
    [0, (writer) => writeReferences(writer, body.inputs)],
    [1, (writer) => writeItems(writer.array(body.outputs.length), body.outputs)],
    [2, (writer) => writer.uint(body.fee)],
  ]
  const {
    validUntil,
    validFrom,
    mint,
    scriptDataHash,
    collateral,
    requiredSigners,
    collateralReturn,
    totalCollateral,
    referenceInputs,
  } = body
  if (validUntil !== undefined) fields.push([3, (writer) => writer.uint(validUntil)])
  if (validFrom !== undefined) fields.push([8, (writer) => writer.uint(validFrom)])
  if (mint !== undefined && mint.size > 0) fields.push([9, (writer) => writeAssets(writer, mint)])
  if (scriptDataHash) fields.push([11, (writer) => writer.bytes(scriptDataHash)])
  if (collateral.length > 0) fields.push([13, (writer) => writeReferences(writer, collateral)])
  if (requiredSigners.length > 0) {
    fields.push([
      14,
      (writer) => {
        writer.tag(setTag).array(requiredSigners.length)
        for (const hash of requiredSigners) writer.bytes(hash)
      },
    ])
  }
  if (collateralReturn) fields.push([16, (writer) => writer.raw(collateralReturn)])
  if (totalCollateral !== undefined) fields.push([17, (writer) => writer.uint(totalCollateral)])
  if (referenceInputs.length > 0) fields.push([18, (writer) => writeReferences(writer, referenceInputs)])
  return writeFields(fields)
}

/**
 * A witness set of the Conway era. Redeemers are in list form: SDKs such as Lucid Evolution write them so
 * when they sign, and the script data hash covers their bytes.
 */
export function encodeWitnesses({ keyWitnesses, scripts, datums, redeemers }: WitnessContent): Uint8Array {
  const fields: [key: number, write: (writer: CborWriter) => void][] = []
  const pushScripts = (key: number, language: ScriptContent['language']): void => {
    const spoken = scripts.filter((script) => script.language === language)
    if (spoken.length === 0) return
    fields.push([
      key,
      (writer) => {
        writer.tag(setTag).array(spoken.length)
        for (const script of spoken) writeScript(writer, script)
      },
    ])
  }
  if (keyWitnesses.length > 0) {
    fields.push([
      0,
      (writer) => {
        writer.tag(setTag).array(keyWitnesses.length)
        for (const { publicKey, signature } of keyWitnesses) writer.array(2).bytes(publicKey).bytes(signature)
      },
    ])
  }
  pushScripts(1, 'native')
  pushScripts(3, 'PlutusV1')
  if (datums.length > 0)
    fields.push([4, (writer) => writeItems(writer.tag(setTag).array(datums.length), datums)])
  if (redeemers.length > 0) fields.push([5, (writer) => writeRedeemers(writer, redeemers)])
  pushScripts(6, 'PlutusV2')
  pushScripts(7, 'PlutusV3')
  return writeFields(fields)
}

/** `[body, witnesses, true, null]`. */
export function encodeTransaction(body: Uint8Array, witnesses: Uint8Array): Uint8Array {
  return new CborWriter(body.length + witnesses.length + 4)
    .array(4)
    .raw(body)
    .raw(witnesses)
    .boolean(true)
    .null()
    .toBytes()
}

function writeRedeemers(writer: CborWriter, redeemers: readonly RedeemerContent[]): void {
  writer.array(redeemers.length)
  for (const { tag, index, data, memory, steps } of redeemers) {
    writer.array(4).uint(tag).uint(index).raw(data)
    writer.array(2).uint(memory).uint(steps)
  }
}

function writeReferences(writer: CborWriter, references: readonly OutputReference[]): void {
  writer.tag(setTag).array(references.length)
  for (const { transactionId, index } of references) writer.array(2).bytes(transactionId).uint(index)
}

function writeItems(writer: CborWriter, items: readonly Uint8Array[]): void {
  for (const item of items) writer.raw(item)
}

function writeFields(fields: readonly [key: number, write: (writer: CborWriter) => void][]): Uint8Array {
  const writer = new CborWriter(1024).map(fields.length)
  for (const [key, write] of fields) write(writer.uint(key))
  return writer.toBytes()
}

export type ScriptContent = Pick<Script, 'language' | 'bytes'>

/** The contents of an output before encoding. */
export interface OutputContent {
  /** The bytes of CIP-19. */
  readonly address: Uint8Array
  readonly value: Value
  readonly datum: OutputDatum
  readonly referenceScript?: ScriptContent
}

const languageTags = { native: 0, PlutusV1: 1, PlutusV2: 2, PlutusV3: 3 } as const

/** Encodes an output in the map form of the Babbage era, fields in ascending order. */
function encodeOutput({ address, value, datum, referenceScript }: OutputContent): Uint8Array {
  const writer = new CborWriter().map(
    2 + Number(datum.kind !== 'none') + Number(referenceScript !== undefined),
  )
  writeValue(writer.uint(0).bytes(address).uint(1), value)
  if (datum.kind === 'hash') writer.uint(2).array(2).uint(0).bytes(datum.hash)
  if (datum.kind === 'inline') writer.uint(2).array(2).uint(1).tag(24).bytes(datum.data)
  if (referenceScript) writer.uint(3).tag(24).bytes(taggedScript(referenceScript))
  return writer.toBytes()
}

/**
 * Encodes an output and decodes it again, so that it has the ledger's type.
 *
 * @throws {DecodeError} when the ledger's CDDL does not allow the contents
 */
export function toOutput(content: OutputContent): TransactionOutput {
  return decodeTransactionOutput(encodeOutput(content))
}

/**
 * The same for an output of layer 1, whose data may have any depth.
 *
 * @throws {DecodeError} like {@link toOutput}
 */
export function toLayer1Output(content: OutputContent): TransactionOutput {
  return decodeLayer1Output(encodeOutput(content))
}

function writeValue(writer: CborWriter, { lovelace, assets }: Value): void {
  if (assets.size === 0) writer.uint(lovelace)
  else writeAssets(writer.array(2).uint(lovelace), assets)
}

/** Writes policies and names in canonical CBOR order: by length, then by bytes. */
function writeAssets(writer: CborWriter, assets: Assets): void {
  const policies = [...assets].sort(([a], [b]) => byCanonicalOrder(a, b))
  writer.map(policies.length)
  for (const [policy, names] of policies) {
    writer.bytes(fromHex(policy)).map(names.size)
    for (const [name, quantity] of [...names].sort(([a], [b]) => byCanonicalOrder(a, b))) {
      writer.bytes(fromHex(name)).int(quantity)
    }
  }
}

/** Writes a script as in a witness set: native scripts as they are, Plutus scripts as a byte string. */
function writeScript(writer: CborWriter, { language, bytes }: ScriptContent): void {
  if (language === 'native') writer.raw(bytes)
  else writer.bytes(bytes)
}

function taggedScript(script: ScriptContent): Uint8Array {
  const writer = new CborWriter(script.bytes.length + 16).array(2).uint(languageTags[script.language])
  writeScript(writer, script)
  return writer.toBytes()
}

function byCanonicalOrder(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}
