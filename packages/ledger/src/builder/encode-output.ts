import { CborWriter, fromHex } from '@ratatosk/cbor'
import {
  type Assets,
  decodeLayer1Output,
  decodeTransactionOutput,
  type OutputDatum,
  type Script,
  type TransactionOutput,
  type Value,
} from '../index.js'

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
export function writeAssets(writer: CborWriter, assets: Assets): void {
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
export function writeScript(writer: CborWriter, { language, bytes }: ScriptContent): void {
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
