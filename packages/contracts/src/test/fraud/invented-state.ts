import { concatBytes, fromHex, isDecodeError } from '@ratatosk/cbor'
import { framedTransaction } from '@ratatosk/fixtures/vectors'
import { blake2b224, decodeTransaction, type Transaction, verifySignature } from '@ratatosk/ledger'
import { testKey } from '../keys.js'
import { type Entries, hexOf } from './blocks.js'
import { list, map, outputWith, string, type Tokens, uint } from './transaction/transactions.js'

/** A transaction with the ledger that it may be applied to. */
export interface InventedState {
  readonly transaction: Uint8Array
  /** Output CBOR by reference in hex. */
  readonly unspent: Entries
  readonly networkId: number
  readonly slot: bigint
}

/** Signs transactions that have no signature yet. */
const signer = testKey('samples')

/** The lovelace of an output unless the sums need more, and of collateral. */
const least = 1_000_000n
const ofCollateral = 10_000_000n

/** The last slot at which a block may begin here, about 35,000 years on. */
const lastSlot = 2n ** 40n

/**
 * A ledger for a transaction whose vector lacks one: its inputs stand for outputs of the keys that signed it,
 * which hold what it pays. Without valid signatures and other witnesses, a test key signs instead.
 */
export function withInventedState(bytes: Uint8Array): InventedState {
  let decoded: Transaction
  try {
    decoded = decodeTransaction(bytes)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    return { transaction: bytes, unspent: new Map(), networkId: 0, slot: 0n }
  }
  const transaction = isSigned(decoded) ? decoded : signed(decoded)
  const { body } = transaction
  const [output] = body.outputs
  const networkId = body.networkId ?? output?.address.networkId ?? 0
  const { invalidBefore = 0n } = body.validityInterval
  return {
    transaction: transaction.bytes,
    unspent: outputsFor(transaction, networkId),
    networkId,
    slot: invalidBefore < lastSlot ? invalidBefore : lastSlot,
  }
}

function isSigned({ id, witnesses: { keyWitnesses } }: Transaction): boolean {
  return (
    keyWitnesses.length > 0 &&
    keyWitnesses.every(({ publicKey, signature }) => verifySignature(publicKey, id, signature))
  )
}

/** The same transaction signed by the tests' key alone, unless it has witnesses of other kinds. */
function signed(transaction: Transaction): Transaction {
  const { id, body, witnesses, auxiliaryData, isValid } = transaction
  const { bootstrapWitnesses, scripts, datums, redeemers } = witnesses
  if (bootstrapWitnesses.length + scripts.length + datums.size + redeemers.length > 0) return transaction
  const signature = list(string(signer.publicKey), string(signer.sign(id)))
  return decodeTransaction(
    framedTransaction(body.bytes, map([uint(0), list(signature)]), auxiliaryData?.bytes, isValid),
  )
}

/**
 * The outputs of inputs, reference inputs and collateral. One input, if possible of a key, holds the rest.
 */
function outputsFor({ body, witnesses }: Transaction, networkId: number): Entries {
  const keys = witnesses.keyWitnesses.map(({ publicKey }) => blake2b224(publicKey))
  const scripts = scriptInputs(body, witnesses)
  const collateral = new Set(body.collateralInputs.map(hexOf))
  const inputs = body.inputs.map(hexOf)
  const rich = inputs.find((key) => !scripts.has(key) && !collateral.has(key)) ?? inputs[0]
  const rest = least * BigInt(Math.max(0, inputs.length - 1))
  const lovelace = body.outputs.reduce((sum, { value }) => sum + value.lovelace, body.fee) - rest
  const outputs: Entries = new Map()
  for (const [place, key] of [...inputs, ...collateral, ...body.referenceInputs.map(hexOf)].entries()) {
    const script = scripts.get(key)
    const hash = script?.hash ?? keys[place % keys.length] ?? signer.hash
    const other = { lovelace: inputs.includes(key) ? least : ofCollateral }
    const held = key === rich ? { lovelace, tokens: tokensFor(body) } : other
    if (held.lovelace < 0n || held.lovelace >= 2n ** 64n || outputs.has(key)) continue
    const address = concatBytes(Uint8Array.of((script ? 0x70 : 0x60) | networkId), hash)
    outputs.set(key, outputWith({ ...held, address, ...(script?.datum && { datumHash: script.datum }) }))
  }
  return outputs
}

/** The inputs that redeemers point to: of a script of the witness set, with a datum if there is one. */
function scriptInputs(
  { inputs }: Transaction['body'],
  { redeemers, scripts, datums }: Transaction['witnesses'],
) {
  const sorted = inputs.map(hexOf).sort()
  const [script] = scripts
  const [datum] = datums.keys()
  const named = redeemers.filter(({ purpose, index }) => purpose === 'spend' && index < sorted.length)
  return new Map(
    script === undefined
      ? []
      : named.map(({ index }) => [
          sorted[index]!,
          { hash: script.hash, datum: datum === undefined ? undefined : fromHex(datum) },
        ]),
  )
}

/** The tokens that a transaction pays and does not mint. */
function tokensFor({ outputs, mint }: Transaction['body']): Tokens {
  const needed = new Map<string, bigint>()
  const add = (assets: Transaction['body']['mint'], sign: bigint) => {
    for (const [policy, quantities] of assets)
      for (const [name, quantity] of quantities)
        needed.set(policy + name, (needed.get(policy + name) ?? 0n) + sign * quantity)
  }
  for (const { value } of outputs) add(value.assets, 1n)
  add(mint, -1n)
  return [...needed]
    .filter(([, quantity]) => quantity > 0n)
    .map(([unit, quantity]) => [fromHex(unit.slice(0, 56)), fromHex(unit.slice(56)), quantity])
}
