import { type CborReader, readList, readVariant, type Variants } from '@ratatosk/cbor'
import type { NativeScript } from '../types.js'

/** Decodes a native script (the ledger's timelock). The reader limits depth and recursion. */
export function readNativeScript(reader: CborReader): { script: NativeScript; bytes: Uint8Array } {
  const start = reader.position
  reader.skip()
  const script = readNested(reader.within(start, reader.position))
  return { script, bytes: reader.since(start) }
}

// The number that at-least requires may be negative; such a script is always satisfied.
const variants: Variants<NativeScript> = [
  [2, (reader) => ({ kind: 'signature', keyHash: reader.readBytesOf(28) })],
  [2, (reader) => ({ kind: 'all', scripts: readList(reader, readNested) })],
  [2, (reader) => ({ kind: 'any', scripts: readList(reader, readNested) })],
  [
    3,
    (reader) => ({ kind: 'at-least', required: reader.readInt64(), scripts: readList(reader, readNested) }),
  ],
  [2, (reader) => ({ kind: 'invalid-before', slot: reader.readUint64() })],
  [2, (reader) => ({ kind: 'invalid-hereafter', slot: reader.readUint64() })],
]

function readNested(reader: CborReader): NativeScript {
  return readVariant(reader, 'a native script', variants)
}
