import { BytesSet, CborWriter, fromHex, isDecodeError } from '@ratatosk/cbor'
import { decodeNativeScript, type NativeScript, type Script, satisfiesNativeScript } from '../index.js'
import { WalletError } from './errors.js'

/** A native script with its bytes and its hash. */
export type NativeScriptContent = Extract<Script, { language: 'native' }>

/**
 * Reads a native script: hex of its CBOR, or the JSON of cardano-cli
 * (`{ "type": "atLeast", "required": 2, "scripts": [ { "type": "sig", "keyHash": "…" }, … ] }`). CBOR keeps
 * its bytes, and with them its hash.
 *
 * @throws {WalletError} `WALLET_INVALID_SCRIPT`
 * @example
 * nativeScript('{"type":"sig","keyHash":"…"}').hash // 28 bytes
 */
export function nativeScript(text: string): NativeScriptContent {
  const trimmed = text.trim()
  try {
    return decodeNativeScript(/^([0-9a-f]{2})+$/i.test(trimmed) ? fromHex(trimmed) : encoded(trimmed))
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw invalid(error.message)
  }
}

/** The hashes of the keys that a native script names, each once. */
export function keysOfNativeScript(script: NativeScript): BytesSet {
  const hashes = new BytesSet()
  const collect = (part: NativeScript): void => {
    if (part.kind === 'signature') hashes.add(part.keyHash)
    else if ('scripts' in part) part.scripts.forEach(collect)
  }
  collect(script)
  return hashes
}

/**
 * Whether signatures alone satisfy a native script, in every validity interval.
 *
 * @param keys their hashes
 */
export function isSatisfiedBy(script: NativeScript, keys: BytesSet): boolean {
  return satisfiesNativeScript(script, keys, {})
}

function encoded(json: string): Uint8Array {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw invalid('it is neither hex nor JSON')
  }
  const writer = new CborWriter()
  write(writer, value)
  return writer.toBytes()
}

/** The types of cardano-cli, which names the two time locks after the slots in which the script is valid. */
function write(writer: CborWriter, value: unknown): void {
  const fields: Readonly<Record<string, unknown>> = typeof value === 'object' ? { ...value } : {}
  const { type, keyHash, scripts, required, slot } = fields
  const writeParts = (): void => {
    if (!Array.isArray(scripts)) throw invalid(`"${type}" needs a list "scripts"`)
    writer.array(scripts.length)
    for (const part of scripts) write(writer, part)
  }
  switch (type) {
    case 'sig':
      if (typeof keyHash !== 'string' || !/^[0-9a-f]{56}$/i.test(keyHash))
        throw invalid('"keyHash" is 56 hex digits')
      writer.array(2).uint(0).bytes(fromHex(keyHash))
      return
    case 'all':
    case 'any':
      writer.array(2).uint(type === 'all' ? 1 : 2)
      writeParts()
      return
    case 'atLeast':
      writer.array(3).uint(3).uint(wholeNumber('required', required))
      writeParts()
      return
    case 'after':
    case 'before':
      writer
        .array(2)
        .uint(type === 'after' ? 4 : 5)
        .uint(wholeNumber('slot', slot))
      return
    default:
      throw invalid('"type" is one of sig, all, any, atLeast, after, before')
  }
}

function wholeNumber(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw invalid(`"${name}" is a whole number`)
}

const invalid = (reason: string): WalletError =>
  new WalletError('WALLET_INVALID_SCRIPT', `The native script cannot be read: ${reason}`)
