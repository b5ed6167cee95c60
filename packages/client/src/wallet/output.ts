import { CborReader, CborWriter, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { decodeTransactionOutput } from '@ratatosk/ledger'
import { invalidRequest } from './cip30.js'

/** Quantities by unit: `lovelace`, or policy id and asset name in hex. */
export type Amount = ReadonlyMap<string, bigint>

export interface Unspent {
  readonly transactionId: string
  readonly index: number
  readonly amount: Amount
  /** Whether it has neither a datum nor a reference script. */
  readonly isPlain: boolean
  /** CBOR of the output. */
  readonly output: Uint8Array
}

interface OutputParts {
  readonly address: Uint8Array
  readonly amount: Amount
  /** Hex. */
  readonly datumHash: string | null
  /** Hex of the datum's CBOR. */
  readonly inlineDatum: string | null
}

/** The CBOR of an output without a reference script, in the map form of the Conway era. */
export function encodeOutput({ address, amount, datumHash, inlineDatum }: OutputParts): Uint8Array {
  const hasDatum = datumHash !== null || inlineDatum !== null
  const writer = new CborWriter().map(hasDatum ? 3 : 2)
  writer.uint(0).bytes(address).uint(1).raw(encodeAmount(amount))
  // Blockfrost also gives the hash of an inline datum.
  if (inlineDatum !== null) writer.uint(2).array(2).uint(1).tag(24).bytes(fromHex(inlineDatum))
  else if (datumHash !== null) writer.uint(2).array(2).uint(0).bytes(fromHex(datumHash))
  return writer.toBytes()
}

/** The CBOR of a value, its keys in canonical order. */
export function encodeAmount(amount: Amount): Uint8Array {
  const writer = new CborWriter()
  const policies = new Map<string, [name: string, quantity: bigint][]>()
  for (const [unit, quantity] of amount) {
    if (unit === 'lovelace') continue
    const policy = unit.slice(0, 56)
    policies.set(policy, [...(policies.get(policy) ?? []), [unit.slice(56), quantity]])
  }
  const lovelace = amount.get('lovelace') ?? 0n
  if (policies.size === 0) return writer.uint(lovelace).toBytes()
  writer.array(2).uint(lovelace).map(policies.size)
  for (const [policy, assets] of [...policies].sort(byKey)) {
    writer.bytes(fromHex(policy)).map(assets.length)
    for (const [name, quantity] of assets.sort(byKey)) writer.bytes(fromHex(name)).uint(quantity)
  }
  return writer.toBytes()
}

/** Shorter keys first, as RFC 7049 orders them. */
function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a.length - b.length || (a < b ? -1 : 1)
}

/** The CBOR of a `TransactionUnspentOutput` (CIP-30), in hex. */
export function encodeUnspent({ transactionId, index, output }: Unspent): string {
  const writer = new CborWriter().array(2).array(2).bytes(fromHex(transactionId)).uint(index)
  return toHex(writer.raw(output).toBytes())
}

/** Reads the CBOR of a value. The ledger's decoder reads values as parts of outputs. */
export function decodeAmount(cbor: Uint8Array): Amount {
  try {
    const address = Uint8Array.of(0x60, ...new Uint8Array(28))
    const output = new CborWriter().array(2).bytes(address).raw(cbor).toBytes()
    const { lovelace, assets } = decodeTransactionOutput(output).value
    const amount = new Map([['lovelace', lovelace]])
    for (const [policy, names] of assets) {
      for (const [name, quantity] of names) amount.set(policy + name, quantity)
    }
    return amount
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw invalidRequest(`amount is not the CBOR of a value: ${error.message}`)
  }
}

/** Lovelace as CIP-30 lets pages give it: CBOR in hex, decimal digits, or a number. */
export function readLovelace(amount: unknown): bigint {
  if (typeof amount === 'bigint' && amount >= 0n) return amount
  if (typeof amount === 'number' && Number.isSafeInteger(amount) && amount >= 0) return BigInt(amount)
  if (typeof amount === 'string') {
    const coin = /^([0-9a-f]{2})+$/i.test(amount) ? readUint(fromHex(amount.toLowerCase())) : undefined
    if (coin !== undefined) return coin
    if (/^\d+$/.test(amount)) return BigInt(amount)
  }
  throw invalidRequest('amount must be lovelace: CBOR in hex, decimal digits or a whole number')
}

/** An unsigned integer, if the bytes are nothing else. */
function readUint(bytes: Uint8Array): bigint | undefined {
  try {
    const reader = new CborReader(bytes)
    const value = reader.readInteger()
    reader.assertEnd()
    return value < 0n ? undefined : value
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}
