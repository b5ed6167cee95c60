import type { CborReader } from '../../cbor/reader.js'
import { readVariant, type Variants } from '../../cbor/structure.js'
import { blake2b224 } from '../../crypto/blake2b.js'
import type { PlutusLanguage, Script } from '../types.js'
import { readNativeScript } from './native-script.js'

/** The byte that is hashed before a script; also the variant of a script reference. */
const languageTags = { native: 0, PlutusV1: 1, PlutusV2: 2, PlutusV3: 3 } as const

/**
 * The hash that addresses and policies name a script by: Blake2b-224 of the language's byte and the script.
 *
 * @param bytes of a native script its CBOR, of a Plutus script the content of its byte string
 * @returns 28 bytes
 */
export function scriptHash(language: Script['language'], bytes: Uint8Array): Uint8Array {
  const preimage = new Uint8Array(1 + bytes.length)
  preimage[0] = languageTags[language]
  preimage.set(bytes, 1)
  return blake2b224(preimage)
}

/** A native script as it stands in a witness set. */
export function readNative(reader: CborReader): Script {
  const { script, bytes } = readNativeScript(reader)
  return { language: 'native', hash: scriptHash('native', bytes), bytes, script }
}

/** A Plutus script as it stands in a witness set: its bytes are judged by the rules, not here. */
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

/** A script with its language before it, as outputs carry it. */
export function readTaggedScript(reader: CborReader): Script {
  return readVariant(reader, 'a script', variants)
}
