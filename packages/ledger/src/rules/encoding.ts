import type { Transaction } from '../transaction/types.js'
import { type Failures, Findings } from './predicates.js'
import { profileLimits } from './profile-limits.js'

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
  validateLength('transaction', bytes.length, profileLimits.transactionBytes, findings)
  findings.failures.push(...validatePart('body', [body.bytes]))
  findings.failures.push(...validatePart('witness set', [witnesses.bytes]))
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

/** The limits of what layer 1 walks: a transaction, and the outputs that it refers to. */
const maxima = {
  body: { items: profileLimits.bodyItems, bytes: profileLimits.bodyBytes },
  'witness set': { items: profileLimits.witnessSetItems, bytes: profileLimits.witnessSetBytes },
  'resolved outputs': { items: profileLimits.resolvedItems, bytes: profileLimits.resolvedBytes },
  'native script': { items: profileLimits.nativeScriptItems },
} as const

/**
 * Refuses what is too much for layer 1, or has heads that it could misread.
 *
 * @param pieces well-formed CBOR: one, or all resolved outputs
 */
export function validatePart(part: keyof typeof maxima, pieces: readonly Uint8Array[]): Failures {
  const findings = new Findings()
  const surveys = pieces.map(survey)
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  const { items: maxItems, bytes: maxBytes }: { readonly items: number; readonly bytes?: number } =
    maxima[part]
  const items = sum(surveys.map((each) => each.items))
  if (items > maxItems)
    findings.add('TooManyItems', `The ${part} has ${items} CBOR items, at most ${maxItems} are supported`, {
      part,
      items,
      maximum: maxItems,
    })
  const bytes = sum(pieces.map(({ length }) => length))
  if (maxBytes !== undefined) validateLength(part, bytes, maxBytes, findings)
  const offset = surveys.find(({ longHead }) => longHead !== undefined)?.longHead
  if (offset !== undefined)
    findings.add('LongHeadsNotSupported', `A number or length of the ${part} is not in its shortest form`, {
      part,
      offset,
    })
  return findings.failures
}

function validateLength(part: string, bytes: number, maximum: number, findings: Findings): void {
  if (bytes <= maximum) return
  findings.add('TooManyBytes', `The ${part} has ${bytes} bytes, at most ${maximum} are supported`, {
    part,
    bytes,
    maximum,
  })
}

/** The byte before the first item of an array of 32-byte strings (heads of two bytes), which `view` views. */
function arrayHead(bytes: Uint8Array, view: Uint8Array): number | undefined {
  return bytes[view.byteOffset - bytes.byteOffset - 3]
}

/**
 * Counts the items of well-formed CBOR: every head, those of containers, tags and chunks included, and every
 * break. `longHead`: offset of the first head whose argument fits into fewer bytes.
 */
function survey(bytes: Uint8Array): { readonly items: number; readonly longHead: number | undefined } {
  let items = 0
  let longHead: number | undefined
  for (let position = 0; position < bytes.length; ) {
    const start = position
    const initial = bytes[position++] as number
    items++
    if (initial === head.stop) continue
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
