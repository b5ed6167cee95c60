import { CborReader, fromHex, isDecodeError, Major } from '@ratatosk/cbor'

/** For a transaction in a text envelope of cardano-cli; undefined for other texts. */
export function envelopeHint(text: string): string | undefined {
  if (!/^\s*\{/.test(text) || !text.includes('"cborHex"')) return undefined
  return 'This is a text envelope of cardano-cli: send the hex digits of its "cborHex" only'
}

/** Raw CBOR, or the bytes of a text: CBOR of a transaction begins with a byte that no text has. */
export function textOf(body: Buffer): string | undefined {
  return (body[0] ?? 0) < 0x80 ? body.toString('latin1').trim() : undefined
}

/** Undefined if the text is not an even number of hex digits, at least two. */
export function hexBytes(text: string): Uint8Array | undefined {
  return /^(?:[0-9a-fA-F]{2})+$/.test(text) ? fromHex(text) : undefined
}

/** The content of bytes under the tag 24, in which some tools wrap CBOR; other CBOR as it is. */
export function unwrapped(cbor: Uint8Array): Uint8Array {
  if (cbor[0] !== 0xd8 || cbor[1] !== 0x18) return cbor
  try {
    const reader = new CborReader(cbor)
    reader.readTag()
    const content = reader.readBytes()
    reader.assertEnd()
    return content
  } catch (error) {
    if (isDecodeError(error)) return cbor
    throw error
  }
}

/** The last field of a transaction's body in the Mary era. */
const lastFieldOfMary = 9

/** Whether bytes that are no Conway transaction are one of the Mary era: a body, witnesses and metadata. */
export function isMaryTransaction(cbor: Uint8Array): boolean {
  try {
    const reader = new CborReader(cbor)
    const count = reader.readArray()
    if ((count >= 0 && count !== 3) || reader.peekMajor() !== Major.map) return false
    const fields = reader.readMap()
    for (let index = 0; reader.hasNext(fields, index); index++) {
      if (reader.readUint() > lastFieldOfMary) return false
      reader.skip()
    }
    if (reader.peekMajor() !== Major.map) return false
    reader.skip()
    reader.skip()
    if (reader.hasNext(count, 3)) return false
    reader.assertEnd()
    return true
  } catch (error) {
    if (isDecodeError(error)) return false
    throw error
  }
}
