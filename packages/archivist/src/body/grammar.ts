import { CborWriter, compareBytes } from '@ratatosk/ledger'
import { listCount } from './encode.js'
import { BlockError } from './errors.js'
import type { Grammar } from './feed.js'
import type { BodyPart } from './types.js'

const Major = { unsigned: 0, bytes: 2, array: 4 } as const
type MajorType = (typeof Major)[keyof typeof Major]

/** An array of two whose first item is a byte string of 32. */
const referenceOpening = Uint8Array.of(0x82, 0x58, 0x20)

/**
 * Bytes of the smallest transaction that spends anything, and of the smallest reference: so many parts in so many bytes at most, or
 * what is read of them would take far more memory than they do.
 */
const least = { transaction: 47, reference: 36 }

/**
 * A body in its canonical encoding, and nothing else.
 *
 * @param emit takes each part as soon as it is complete
 * @param maxBytes a length that promises more is refused before anything of it has come
 */
export function* bodyGrammar(emit: (part: BodyPart) => void, maxBytes: number): Grammar<void> {
  if ((yield* argument(Major.array, maxBytes)) !== listCount)
    throw malformed(`not the ${listCount} lists of a body`)

  const transactions = yield* argument(Major.array, maxBytes / least.transaction)
  for (let i = 0; i < transactions; i++) emit({ kind: 'transaction', cbor: yield* byteString(maxBytes) })

  let last: Uint8Array | undefined
  const spent = yield* argument(Major.array, maxBytes / least.reference)
  for (let i = 0; i < spent; i++) {
    const outref: Uint8Array = yield* reference(last)
    emit({ kind: 'spent', outref })
    last = outref
  }

  last = undefined
  const produced = yield* argument(Major.array, maxBytes / least.reference)
  for (let i = 0; i < produced; i++) {
    if ((yield* argument(Major.array, maxBytes)) !== 2) throw malformed('a produced output that is no pair')
    const outref: Uint8Array = yield* reference(last)
    emit({ kind: 'produced', outref, output: yield* byteString(maxBytes) })
    last = outref
  }

  for (const list of ['deposits', 'withdrawals']) {
    if ((yield* argument(Major.array, maxBytes)) > 0) throw malformed(`${list}: there are none yet`)
  }
}

export function* byteString(maxBytes: number): Grammar<Uint8Array> {
  return yield yield* argument(Major.bytes, maxBytes)
}

/** These bytes and no others. */
export function* expectBytes(expected: Uint8Array): Grammar<void> {
  if (compareBytes(yield expected.length, expected) !== 0)
    throw malformed('not the answer that was asked for')
}

export function unsigned(): Grammar<number> {
  return argument(Major.unsigned, Number.MAX_SAFE_INTEGER)
}

/** The CBOR of an output reference that comes after `last`. */
function* reference(last: Uint8Array | undefined): Grammar<Uint8Array> {
  const opening = yield referenceOpening.length
  if (compareBytes(opening, referenceOpening) !== 0) throw malformed('not an output reference')
  const id = yield 32
  const index = yield* argument(Major.unsigned, 0xffff)
  const outref = new CborWriter(40).raw(referenceOpening).raw(id).uint(index).toBytes()
  if (last !== undefined && compareBytes(last, outref) >= 0) throw malformed('output references out of order')
  return outref
}

/** A head in its shortest form: its argument, `max` at most. */
function* argument(major: MajorType, max: number): Grammar<number> {
  const [initial = 0] = yield 1
  if (initial >> 5 !== major) throw malformed(`major type ${initial >> 5} instead of ${major}`)
  const info = initial & 0x1f
  if (info > 27) throw malformed('a length that is not definite')
  let value = info
  if (info >= 24) {
    const width = 1 << (info - 24)
    value = 0
    for (const byte of yield width) value = value * 256 + byte
    if (value < (width === 1 ? 24 : 2 ** (4 * width)))
      throw malformed('a number that is not in its shortest form')
  }
  if (value > max) throw new BlockError('BODY_TOO_LARGE', `a length of ${value}`)
  return value
}

const malformed = (reason: string): BlockError => new BlockError('BODY_MALFORMED', reason)
