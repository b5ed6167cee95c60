import { CborWriter, fromHex } from '@ratatosk/cbor'
import {
  InvalidInputError,
  isObject,
  type JsonObject,
  quoted,
  readFields,
  readHex,
  readInteger,
  readText,
} from '../input.js'
import { unwrapped } from '../transaction-bytes.js'

/** How outputs are written: as in Ogmios 6 and 7, or as Blockfrost accepts them, also in pairs. */
export type OutputDialect = 'ogmios' | 'blockfrost'

/** The numbers of the languages in references to scripts (Conway CDDL). */
const languages: Readonly<Record<string, number>> = {
  native: 0,
  'plutus:v1': 1,
  'plutus:v2': 2,
  'plutus:v3': 3,
}

/**
 * Parses the script of an output: hex of `[language, script]`, `{ language, cbor }`, or
 * `{ language: "native", json }`; by Blockfrost also `{ "<language>": … }`.
 *
 * @returns CBOR of `[language, script]`
 * @throws {InvalidInputError}
 */
export function readScript(script: unknown, what: string, dialect: OutputDialect): Uint8Array {
  // Some clients send it as it is in an output: as bytes under the tag 24.
  if (typeof script === 'string') return unwrapped(fromHex(readHex(script, what)))
  if (isObject(script) && script.language === undefined && dialect === 'blockfrost') {
    const fields = readFields(script, what, Object.keys(languages))
    const [entry, ...others] = Object.entries(fields)
    if (entry === undefined || others.length > 0) {
      throw new InvalidInputError(`${what} must be in one language.`)
    }
    const [language, content] = entry
    if (language !== 'native') return tagged(language, content, what)
    // The hash of a key, as Ogmios 5 writes the simplest script.
    const isCbor = typeof content === 'string' && content.length !== 56
    return isCbor ? tagged(language, content, what) : native(content, what)
  }
  const { language, cbor, json } = readFields(script, what, ['language', 'cbor', 'json'])
  if (language === 'native' && cbor === undefined) return native(json, what)
  if (language !== 'native' && json !== undefined) {
    throw new InvalidInputError(`${what} has "json", which only native scripts have.`)
  }
  return tagged(readText(language, `${what}.language`), cbor, what)
}

function tagged(language: string, cbor: unknown, what: string): Uint8Array {
  const tag = Object.hasOwn(languages, language) ? languages[language] : undefined
  if (tag === undefined) {
    const known = Object.keys(languages).join(', ')
    throw new InvalidInputError(`${what}.language must be one of ${known}, not ${quoted(language)}.`)
  }
  const bytes = fromHex(readHex(cbor, `the CBOR of ${what}`))
  const writer = new CborWriter().array(2).uint(tag)
  return (tag === 0 ? writer.raw(bytes) : writer.bytes(bytes)).toBytes()
}

function native(json: unknown, what: string): Uint8Array {
  const writer = new CborWriter().array(2).uint(0)
  writeNative(writer, json, what)
  return writer.toBytes()
}

function writeNative(writer: CborWriter, json: unknown, what: string): void {
  const { clause, from, atLeast, slot } = clauseOf(json, what)
  if (clause === 'signature') {
    writer
      .array(2)
      .uint(0)
      .bytes(fromHex(readHex(from, `a key hash of ${what}`, 28)))
  } else if (clause === 'after' || clause === 'before') {
    writer
      .array(2)
      .uint(clause === 'after' ? 4 : 5)
      .uint(readInteger(slot, `a slot of ${what}`))
  } else if (clause === 'some') {
    writer
      .array(3)
      .uint(3)
      .uint(readInteger(atLeast, `the least number of ${what}`, maxUint32))
    writeParts(writer, from, what)
  } else if (clause === 'all' || clause === 'any') {
    writer.array(2).uint(clause === 'all' ? 1 : 2)
    writeParts(writer, from, what)
  } else {
    const name = quoted(String(clause))
    throw new InvalidInputError(`${what} has an unknown clause of native scripts: ${name}.`)
  }
}

const maxUint32 = 2n ** 32n - 1n

function writeParts(writer: CborWriter, parts: unknown, what: string): void {
  if (!Array.isArray(parts)) throw new InvalidInputError(`the parts of ${what} must be an array.`)
  writer.array(parts.length)
  for (const part of parts) writeNative(writer, part, what)
}

/** A native script of Ogmios 6 (`clause`), of cardano-cli (`type`) or of Ogmios 5, as one of Ogmios 6. */
function clauseOf(json: unknown, what: string): JsonObject {
  if (typeof json === 'string') return { clause: 'signature', from: json }
  if (!isObject(json)) throw new InvalidInputError(`${what} must be a native script.`)
  if (json.clause !== undefined) return readFields(json, what, ['clause', 'from', 'atLeast', 'slot'])
  if (json.type !== undefined) {
    const fields = readFields(json, what, ['type', 'keyHash', 'scripts', 'required', 'slot'])
    const { type, keyHash, scripts, required, slot } = fields
    if (type === 'sig') return { clause: 'signature', from: keyHash }
    return { clause: type === 'atLeast' ? 'some' : type, from: scripts, atLeast: required, slot }
  }
  const [entry, ...others] = Object.entries(json)
  if (entry === undefined || others.length > 0) {
    throw new InvalidInputError(`${what} must be a native script with one clause.`)
  }
  const [name, content] = entry
  if (name === 'startsAt') return { clause: 'after', slot: content }
  if (name === 'expiresAt') return { clause: 'before', slot: content }
  if (/^\d{1,9}$/.test(name)) return { clause: 'some', atLeast: Number(name), from: content }
  return { clause: name, from: content }
}
