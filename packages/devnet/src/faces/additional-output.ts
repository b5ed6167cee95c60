import { CborWriter, decodeTransactionOutput, fromHex, type TransactionOutput } from '@ratatosk/ledger'
import { readAddressText } from '../chain/address-text.js'

/** An output that a client tells of beside the chain's, whatever the form it came in. Texts are hex. */
export interface AdditionalOutput {
  readonly address: string
  readonly lovelace: bigint
  /** Policy id, asset name, quantity. */
  readonly assets: readonly (readonly [policy: string, name: string, quantity: bigint])[]
  readonly datumHash?: string | undefined
  /** Plutus data. */
  readonly datum?: string | undefined
  readonly script?: { readonly language: 'native' | 'v1' | 'v2' | 'v3'; readonly cbor: string } | undefined
}

const languageTags = { native: 0, v1: 1, v2: 2, v3: 3 } as const

/**
 * Writes the output as a transaction would have it.
 *
 * @throws DecodeError, RangeError where it is none
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
 * A quantity as JSON has it, in a number or in a text.
 *
 * @throws RangeError, SyntaxError on what is no integer, or a number that JSON.parse has rounded
 */
export function quantity(json: unknown): bigint {
  if (typeof json === 'number' && !Number.isSafeInteger(json)) {
    throw new RangeError(`${json} is no integer, or beyond 2^53: write it as a text`)
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
