import type { MovedParts } from '@ratatosk/block'
import { concatBytes, equalBytes, fromHex, isDecodeError } from '@ratatosk/cbor'
import { blake2b256, decodeTransaction, profileLimits, type Transaction } from '@ratatosk/ledger'
import type { AccusedBlock } from './accused-block.js'
import { shapeFrauds } from './find-shape-fraud.js'
import type { Recorded } from './recorded.js'
import { itemIn } from './shapes/item.js'
import { readLeniently } from './shapes/lenient.js'
import { movedParts } from './shapes/moved-parts.js'

/** A transaction as the ledger decodes it, or as the scripts read it. */
export interface Read {
  readonly transaction: Transaction
  /** Whether the ledger decodes its body. */
  readonly isDecoded: boolean
  /** Whether it decodes its witness set. */
  readonly hasWitnesses: boolean
}

const head = Uint8Array.of(0x84)
const noWitnesses = Uint8Array.of(0xa0)
/** Behind a witness set: the transaction is valid, and has no auxiliary data. */
const noAuxiliaryData = Uint8Array.of(0xf5, 0xf6)
const emptyBody = fromHex('a3008001800200')

/**
 * The recorded transaction, without unknown witnesses; undefined if its shape is a fraud, as `shapeFrauds`
 * finds it. Auxiliary data need not decode.
 */
export function readAt(block: AccusedBlock, recorded: Recorded): Read | undefined {
  const { isWitnessed, parts } = recorded
  const { id, body } = parts
  const witnessSet = isWitnessed ? parts.witnessSet : noWitnesses
  const rest = isWitnessed ? parts.rest : noAuxiliaryData
  const decoded = decodedOf(body, witnessSet, rest) ?? decodedOf(body, witnessSet, noAuxiliaryData)
  if (decoded !== undefined && equalBytes(decoded.id, id)) {
    const transaction = withAuxiliaryData(decoded, decoded.body.auxiliaryDataHash, rest)
    return { transaction, isDecoded: true, hasWitnesses: true }
  }
  const { bodyItems, witnessSetItems } = profileLimits
  const [read, items] = [itemIn(body, bodyItems), itemIn(witnessSet, witnessSetItems)]
  if (typeof read === 'string' || typeof items === 'string') return undefined
  if (!shapeFrauds(block, recorded).next().done) return undefined
  const bytes = concatBytes(head, body, witnessSet, rest)
  const lenient = readLeniently(bytes, { id, body: read, witnesses: items })
  const witnesses = decodedOf(emptyBody, witnessSet, noAuxiliaryData)?.witnesses
  return {
    transaction: {
      ...withAuxiliaryData(lenient, lenient.body.auxiliaryDataHash, rest),
      ...(witnesses && { witnesses }),
    },
    isDecoded: false,
    hasWitnesses: witnesses !== undefined,
  }
}

/** A transaction of parts; undefined if the ledger does not decode it, or cuts it elsewhere. */
function decodedOf(body: Uint8Array, witnessSet: Uint8Array, rest: Uint8Array): Transaction | undefined {
  try {
    const transaction = decodeTransaction(concatBytes(head, body, witnessSet, rest))
    return equalBytes(transaction.witnesses.bytes, witnessSet) ? transaction : undefined
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}

/** A transaction with the auxiliary data of a hash, if they are there: of what they have, nothing is read. */
function withAuxiliaryData(
  transaction: Transaction,
  hash: Uint8Array | undefined,
  rest: Uint8Array,
): Transaction {
  const bytes = rest.subarray(1)
  if (transaction.auxiliaryData || !hash || !equalBytes(blake2b256(bytes), hash)) return transaction
  return { ...transaction, auxiliaryData: { bytes, scripts: [] } }
}

const movedBy = new WeakMap<Recorded, { readonly parts: MovedParts | undefined }>()

/** The changes of a transaction that may be partly unreadable. */
export function movedAt(recorded: Recorded): MovedParts | undefined {
  const { parts } = recorded
  if (parts.isDecoded) return parts
  const known = movedBy.get(recorded) ?? { parts: movedParts(parts.body) }
  movedBy.set(recorded, known)
  return known.parts
}
