import type { CborReader } from '../../cbor/reader.js'
import { readList, readVariant } from '../../cbor/structure.js'
import type { NativeScript } from '../types.js'

const MAX_INT = 2n ** 63n - 1n

/** A native script (the ledger's timelock). Its depth is bounded by the reader's limits, so its recursion is too. */
export function readNativeScript(reader: CborReader): { script: NativeScript; bytes: Uint8Array } {
  const start = reader.position
  reader.skip()
  const script = readNested(reader.within(start, reader.position))
  return { script, bytes: reader.since(start) }
}

function readNested(reader: CborReader): NativeScript {
  return readVariant<NativeScript>(reader, (inner, variant) => {
    switch (variant) {
      case 0:
        return [2, { kind: 'signature', keyHash: inner.readBytesOf(28) }]
      case 1:
        return [2, { kind: 'all', scripts: readList(inner, readNested) }]
      case 2:
        return [2, { kind: 'any', scripts: readList(inner, readNested) }]
      case 3:
        return [3, { kind: 'at-least', required: readRequired(inner), scripts: readList(inner, readNested) }]
      case 4:
        return [2, { kind: 'invalid-before', slot: inner.readUint64() }]
      case 5:
        return [2, { kind: 'invalid-hereafter', slot: inner.readUint64() }]
      default:
        throw inner.error('unknown-variant', `a native script of kind ${variant}`)
    }
  })
}

/** The ledger takes a negative number here: such a script always holds. */
function readRequired(reader: CborReader): bigint {
  const start = reader.position
  const required = reader.readInt64()
  if (required > MAX_INT || required < -MAX_INT - 1n) {
    throw reader.error('out-of-range', 'a number that is no signed integer of 64 bits', start)
  }
  return required
}
