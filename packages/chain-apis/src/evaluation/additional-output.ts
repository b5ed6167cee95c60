import { CborWriter, fromHex } from '@ratatosk/cbor'
import {
  type Address,
  decodeTransactionOutput,
  type OutputDatum,
  type TransactionOutput,
} from '@ratatosk/ledger'

/** An asset and how much of it there is; policy id and name in hex, lower case. */
export type AssetEntry = readonly [policy: string, name: string, quantity: bigint]

export interface AdditionalValue {
  readonly lovelace: bigint
  /** Read once, and no further than the first entry that is refused. */
  readonly assets: Iterable<AssetEntry>
}

/** An output that a client adds to those of the chain for an evaluation. */
export interface AdditionalOutput extends AdditionalValue {
  readonly address: Address
  readonly datum: OutputDatum
  /** CBOR of `[language, script]`. */
  readonly script?: Uint8Array | undefined
}

/**
 * Encodes the output as in a transaction and decodes it. `maxValueSize` limits the bytes of its assets.
 *
 * @throws {DecodeError} the datum or script is not valid
 * @throws {RangeError} there are too many assets, or one is repeated
 */
export function writeAdditionalOutput(output: AdditionalOutput, maxValueSize: number): TransactionOutput {
  const { address, lovelace, assets, datum, script } = output
  const writer = new CborWriter().map(2 + (datum.kind === 'none' ? 0 : 1) + (script ? 1 : 0))
  writer.uint(0).bytes(address.bytes).uint(1)
  const policies = byPolicy(assets, maxValueSize)
  if (policies.size === 0) writer.uint(lovelace)
  else writeAssets(writer.array(2).uint(lovelace), policies)
  if (datum.kind === 'inline') writer.uint(2).array(2).uint(1).tag(24).bytes(datum.data)
  if (datum.kind === 'hash') writer.uint(2).array(2).uint(0).bytes(datum.hash)
  if (script) writer.uint(3).tag(24).bytes(script)
  return decodeTransactionOutput(writer.toBytes())
}

type Assets = ReadonlyMap<string, ReadonlyMap<string, bigint>>

function byPolicy(assets: Iterable<AssetEntry>, maxValueSize: number): Assets {
  const policies = new Map<string, Map<string, bigint>>()
  // At least this many bytes in CBOR: heads, policy ids, names.
  let size = 0
  for (const [policy, name, quantity] of assets) {
    const names = policies.get(policy) ?? new Map<string, bigint>()
    size += 2 + name.length / 2 + (names.size === 0 ? 31 : 0)
    if (size > maxValueSize) throw new RangeError(`the assets take more than ${maxValueSize} bytes`)
    if (names.has(name)) throw new RangeError(`the asset ${policy}${name} is repeated`)
    policies.set(policy, names.set(name, quantity))
  }
  return policies
}

function writeAssets(writer: CborWriter, policies: Assets): void {
  writer.map(policies.size)
  for (const [policy, names] of policies) {
    writer.bytes(fromHex(policy)).map(names.size)
    for (const [name, quantity] of names) writer.bytes(fromHex(name)).uint(quantity)
  }
}
