import { CborWriter, fromHex } from '@ratatosk/cbor'
import { decodeTransactionOutput, type TransactionOutput } from '@ratatosk/ledger'
import { readAddressText } from './view/address-text.js'

/** An output that a client adds to those of the chain for an evaluation. Strings are hex unless noted. */
export interface AdditionalOutput {
  /** Bech32 or base58. */
  readonly address: string
  readonly lovelace: bigint
  /** Policy id, asset name and quantity. */
  readonly assets: readonly (readonly [policy: string, name: string, quantity: bigint])[]
  readonly datumHash?: string | undefined
  /** Inline datum: Plutus data. */
  readonly datum?: string | undefined
  readonly script?: { readonly language: 'native' | 'v1' | 'v2' | 'v3'; readonly cbor: string } | undefined
}

const languageTags = { native: 0, v1: 1, v2: 2, v3: 3 } as const

/**
 * Encodes the output as in a transaction and decodes it.
 *
 * @throws {DecodeError} the address, datum or script is not valid
 * @throws {RangeError} a number is out of range or a string is not hex
 */
export function writeAdditionalOutput(output: AdditionalOutput): TransactionOutput {
  const { address, lovelace, assets, datumHash, datum, script } = output
  const withDatum = datum !== undefined || datumHash !== undefined
  const writer = new CborWriter().map(2 + (withDatum ? 1 : 0) + (script ? 1 : 0))
  writer.uint(0).bytes(readAddressText(address).bytes).uint(1)
  if (assets.length === 0) writer.uint(lovelace)
  else writeAssets(writer.array(2).uint(lovelace), assets)
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
 *
 * @throws {RangeError} a number that is not an integer, or that JSON.parse may have rounded
 * @throws {SyntaxError} a string that is not an integer
 */
export function quantity(json: unknown): bigint {
  if (typeof json === 'number' && !Number.isSafeInteger(json)) {
    throw new RangeError(`${json} is not an integer below 2^53: write larger quantities as strings`)
  }
  return BigInt(String(json))
}

function writeAssets(writer: CborWriter, assets: AdditionalOutput['assets']): void {
  const policies = [...new Set(assets.map(([policy]) => policy))]
  writer.map(policies.length)
  for (const policy of policies) {
    const names = assets.filter(([other]) => other === policy)
    writer.bytes(fromHex(policy)).map(names.length)
    for (const [, name, quantity] of names) writer.bytes(fromHex(name)).uint(quantity)
  }
}
