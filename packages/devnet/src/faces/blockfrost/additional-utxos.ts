import { isDecodeError, type TransactionOutput } from '@ratatosk/ledger'
import { type AdditionalOutput, quantity, writeAdditionalOutput } from '../additional-output.js'
import { BlockfrostError } from './errors.js'

type JsonObject = { readonly [key: string]: unknown }

/**
 * Reads `additionalUtxoSet`: pairs of `{ txId, index }` and an output, as Ogmios 5 wrote them.
 *
 * @throws {BlockfrostError} 400 where it is anything else
 */
export function readAdditionalUtxos(json: unknown): Map<string, TransactionOutput> {
  if (json === undefined || json === null) return new Map()
  if (!Array.isArray(json)) throw malformed('not an array')
  return new Map(json.map(readPair))
}

function readPair(pair: unknown): [string, TransactionOutput] {
  if (!Array.isArray(pair) || pair.length !== 2) throw malformed('not a pair of input and output')
  const [input, output] = pair
  if (!isObject(input) || typeof input.txId !== 'string' || !/^[0-9a-fA-F]{64}$/.test(input.txId)) {
    throw malformed('no txId of 64 hex digits')
  }
  if (!isObject(output)) throw malformed('no output')
  try {
    return [`${input.txId.toLowerCase()}#${Number(input.index)}`, writeAdditionalOutput(readOutput(output))]
  } catch (error) {
    if (isDecodeError(error) || error instanceof RangeError || error instanceof SyntaxError) {
      throw malformed(error.message)
    }
    throw error
  }
}

function readOutput({ address, value, datum, datumHash, datum_hash, script }: JsonObject): AdditionalOutput {
  const { coins, assets } = isObject(value) ? value : {}
  return {
    address: String(address),
    lovelace: quantity(coins),
    assets: Object.entries(isObject(assets) ? assets : {}).map(([unit, amount]) => {
      const digits = unit.replace('.', '')
      return [digits.slice(0, 56), digits.slice(56), quantity(amount)]
    }),
    datum: text(datum),
    datumHash: text(datumHash) ?? text(datum_hash),
    script: readScript(script),
  }
}

function readScript(script: unknown): AdditionalOutput['script'] {
  if (!isObject(script)) return undefined
  for (const language of ['v1', 'v2', 'v3'] as const) {
    const cbor = text(script[`plutus:${language}`])
    if (cbor !== undefined) return { language, cbor }
  }
  return undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function malformed(reason: string): BlockfrostError {
  return new BlockfrostError(400, `Invalid additionalUtxoSet: ${reason}`)
}
