import { type CborReader, readVariant, type Variants } from '@ratatosk/cbor'
import { blake2b224 } from '#crypto'
import type { PlutusLanguage, Script } from '../types.js'
import { readNativeScript } from './native-script.js'

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
