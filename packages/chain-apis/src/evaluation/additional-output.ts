import { CborWriter, fromHex } from '@ratatosk/cbor'
import { decodeTransactionOutput, type TransactionOutput } from '@ratatosk/ledger'
import { readAddressText } from '../view/address-text.js'

/** An output that a client adds to those of the chain for an evaluation. Strings are hex unless noted. */
export interface AdditionalOutput {
  /** Bech32 or base58. */
  readonly address: string
  readonly lovelace: bigint
  /** Read once, and no further than the first entry that is refused. */
  readonly assets: Iterable<readonly [policy: string, name: string, quantity: bigint]>
  readonly datumHash?: string | undefined
  /** Inline datum: Plutus data. */
  readonly datum?: string | undefined
  readonly script?: { readonly language: 'native' | 'v1' | 'v2' | 'v3'; readonly cbor: string } | undefined
}

export const maxAdditionalOutputs = 300

const languageTags = { native: 0, v1: 1, v2: 2, v3: 3 } as const

/**
 * Encodes the output as in a transaction and decodes it. `maxValueSize` limits the bytes of its assets.
 * @throws {DecodeError} the address, datum or script is not valid
 * @throws {RangeError} a number is out of range, a string is not hex, or there are too many assets
 */
export function writeAdditionalOutput(output: AdditionalOutput, maxValueSize: number): TransactionOutput {
  const { address, lovelace, assets, datumHash, datum, script } = output
  const withDatum = datum !== undefined || datumHash !== undefined
  const writer = new CborWriter().map(2 + (withDatum ? 1 : 0) + (script ? 1 : 0))
  writer.uint(0).bytes(readAddressText(address).bytes).uint(1)
  const policies = byPolicy(assets, maxValueSize)
  if (policies.size === 0) writer.uint(lovelace)
  else writeAssets(writer.array(2).uint(lovelace), policies)
  if (datum !== undefined) writer.uint(2).array(2).uint(1).tag(24).bytes(fromHex(datum))
  else if (datumHash !== undefined) writer.uint(2).array(2).uint(0).bytes(fromHex(datumHash))
  if (script) {
    const reference = new CborWriter().array(2).uint(languageTags[script.language])
    const bytes = fromHex(script.cbor)
    if (script.language === 'native') reference.raw(bytes)
    else reference.bytes(bytes)
    writer.uint(3).tag(24).bytes(reference.toBytes())
  }
  return decodeTransactionOutput(writer.toBytes())
}

/**
 * Parses a quantity from JSON, a number or a string.
 * @throws {RangeError} a number that is not an integer, or that JSON.parse may have rounded
 * @throws {SyntaxError} a string that is not an integer
 */
export function quantity(json: unknown): bigint {
  if (typeof json === 'number' && !Number.isSafeInteger(json)) {
    throw new RangeError(`${json} is not an integer below 2^53: write larger quantities as strings`)
  }
  return BigInt(String(json))
}

type Assets = ReadonlyMap<string, readonly (readonly [name: string, quantity: bigint])[]>

function byPolicy(assets: AdditionalOutput['assets'], maxValueSize: number): Assets {
  const policies = new Map<string, [string, bigint][]>()
  // At least this many bytes in CBOR: heads, policy ids, names.
  let size = 0
  for (const [policy, name, quantity] of assets) {
    const names = policies.get(policy)
    size += 2 + name.length / 2 + (names === undefined ? 31 : 0)
    if (size > maxValueSize) throw new RangeError(`the assets take more than ${maxValueSize} bytes`)
    if (names !== undefined) {
      names.push([name, quantity])
    } else {
      if (!/^[0-9a-fA-F]{56}$/.test(policy)) throw new RangeError('a policy id must be 56 hex digits')
      policies.set(policy, [[name, quantity]])
    }
  }
  return policies
}

function writeAssets(writer: CborWriter, policies: Assets): void {
  writer.map(policies.size)
  for (const [policy, names] of policies) {
    writer.bytes(fromHex(policy)).map(names.length)
    for (const [name, quantity] of names) writer.bytes(fromHex(name)).uint(quantity)
  }
}
