import type { Transaction } from '../transaction/types.js'
import type { Findings } from './failures.js'

/**
 * The most CBOR items in a body, and in a witness set, that layer 1 can walk in one transaction with room to
 * spare.
 */
const maxItems = 1000

/** The first bytes of definite arrays, and the first of those of each kind of item. */
const head = { arrayOfTwo: 0x82, arrayOfFour: 0x84, strings: 0x40, arrays: 0x80, floats: 0xe0, stop: 0xff }

/**
 * The encodings that a validator on layer 1 reads. It walks body and witness set with a bounded effort, and
 * must read what the decoder reads; for the ledger, all encodings of a transaction are equal.
 */
export function validateEncoding({ bytes, body, witnesses }: Transaction, findings: Findings): void {
  if (bytes[0] !== head.arrayOfFour)
    findings.add(
      'IndefiniteTransactionNotSupported',
      'The transaction must be a definite array of four items',
    )
  for (const [part, { bytes }] of [
    ['body', body],
    ['witness set', witnesses],
  ] as const) {
    const { items, longHead } = survey(bytes)
    if (items > maxItems)
      findings.add('TooManyItems', `The ${part} has ${items} CBOR items, at most ${maxItems} are supported`, {
        part,
        items,
        maximum: maxItems,
      })
    if (longHead !== undefined)
      findings.add('LongHeadsNotSupported', `A number or length of the ${part} is not in its shortest form`, {
        part,
        offset: longHead,
      })
  }
  const references = [body.inputs, body.collateralInputs, body.referenceInputs].flat()
  if (references.some(({ transactionId }) => arrayHead(body.bytes, transactionId) !== head.arrayOfTwo))
    findings.add(
      'IndefiniteReferencesNotSupported',
      'Each input must be a definite array of transaction id and index',
    )
  const { keyWitnesses, bootstrapWitnesses } = witnesses
  if (
    keyWitnesses.some(({ publicKey }) => arrayHead(witnesses.bytes, publicKey) !== head.arrayOfTwo) ||
    bootstrapWitnesses.some(({ publicKey }) => arrayHead(witnesses.bytes, publicKey) !== head.arrayOfFour)
  )
    findings.add('IndefiniteKeyWitnessesNotSupported', 'Each key witness must be a definite array')
}

/**
 * The byte before the first item of an array, a string of 32 bytes with a head of two, of which `view` is a
 * view.
 */
function arrayHead(bytes: Uint8Array, view: Uint8Array): number | undefined {
  return bytes[view.byteOffset - bytes.byteOffset - 3]
}

/**
 * Counts the items of well-formed CBOR: every head, those of containers, tags and chunks included, and no
 * break.
 *
 * @returns `longHead`: offset of the first head whose argument fits into fewer bytes
 */
function survey(bytes: Uint8Array): { readonly items: number; readonly longHead: number | undefined } {
  let items = 0
  let longHead: number | undefined
  for (let position = 0; position < bytes.length; ) {
    const start = position
    const initial = bytes[position++] as number
    if (initial === head.stop) continue
    items++
    const info = initial & 0x1f
    let argument = info
    if (info > 23 && info < 28) {
      const width = 1 << (info - 24)
      argument = 0
      for (let i = 0; i < width; i++) argument = argument * 256 + (bytes[position + i] as number)
      position += width
      const least = info === 24 ? 24 : 256 ** (width / 2)
      if (argument < least && initial < head.floats) longHead ??= start
    }
    if (initial >= head.strings && initial < head.arrays && info !== 31) position += argument
  }
  return { items, longHead }
}
