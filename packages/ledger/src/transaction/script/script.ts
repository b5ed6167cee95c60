import { type CborReader, readList, readVariant, type Variants } from '@ratatosk/cbor'
import { blake2b224 } from '#crypto'
import type { NativeScript, PlutusLanguage, Script } from '../types.js'

/** The byte that precedes a script in the preimage of its hash; also the variant of a script reference. */
const languageTags = { native: 0, PlutusV1: 1, PlutusV2: 2, PlutusV3: 3 } as const

/**
 * Returns the hash that identifies a script in addresses and policy ids: Blake2b-224 of the byte of the
 * language followed by the script.
 *
 * @param bytes the CBOR of a native script, or the content of a Plutus script's byte string
 * @returns 28 bytes
 */
export function scriptHash(language: Script['language'], bytes: Uint8Array): Uint8Array {
  const preimage = new Uint8Array(1 + bytes.length)
  preimage[0] = languageTags[language]
  preimage.set(bytes, 1)
  return blake2b224(preimage)
}

/** Decodes a native script of a witness set. */
export function readNative(reader: CborReader): Extract<Script, { language: 'native' }> {
  const { script, bytes } = readNativeScript(reader)
  return { language: 'native', hash: scriptHash('native', bytes), bytes, script }
}

/** Decodes a Plutus script of a witness set. The rules, not the decoder, check that it is well-formed. */
export function readPlutus(reader: CborReader, language: PlutusLanguage): Script {
  const bytes = reader.readBytes()
  return { language, hash: scriptHash(language, bytes), bytes }
}

const variants: Variants<Script> = [
  [2, readNative],
  [2, (reader) => readPlutus(reader, 'PlutusV1')],
  [2, (reader) => readPlutus(reader, 'PlutusV2')],
  [2, (reader) => readPlutus(reader, 'PlutusV3')],
]

/** Decodes `[language, script]`, the content of a script reference. */
export function readTaggedScript(reader: CborReader): Script {
  return readVariant(reader, 'a script', variants)
}

/** Decodes a native script (the ledger's timelock). The reader limits depth and recursion. */
function readNativeScript(reader: CborReader): { script: NativeScript; bytes: Uint8Array } {
  const start = reader.position
  reader.skip()
  const script = readNested(reader.within(start, reader.position))
  return { script, bytes: reader.since(start) }
}

// The number that at-least requires may be negative; such a script is always satisfied.
const nativeVariants: Variants<NativeScript> = [
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
  return readVariant(reader, 'a native script', nativeVariants)
}
