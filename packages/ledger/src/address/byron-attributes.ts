import { concatBytes } from '../bytes.js'
import { CborReader } from '../cbor/reader.js'
import { CborWriter } from '../cbor/writer.js'
import { blake2b224 } from '../crypto/blake2b.js'
import { sha3_256 } from '../crypto/sha3.js'
import type { ByronAddress } from './types.js'

interface ByronAttributes {
  /** Attribute 1: the encrypted derivation path of the first wallets. */
  readonly derivationPath?: Uint8Array
  /** Attribute 2. */
  readonly networkMagic?: number
  /** Bytes of the attributes that the ledger does not know. */
  readonly unknownLength: number
}

/** The map of attributes: number → CBOR in a byte string. Keys rise strictly; the two known ones are canonical inside. */
export function readByronAttributes(reader: CborReader): ByronAttributes {
  const start = reader.position
  const count = reader.readMap()
  if (count < 0) throw reader.error('unexpected-type', 'a map of indefinite length', start)
  let derivationPath: Uint8Array | undefined
  let networkMagic: number | undefined
  let unknownLength = 0
  let previous = -1
  for (let i = 0; i < count; i++) {
    const keyStart = reader.position
    const key = reader.readUint(0xff)
    if (key <= previous) throw reader.error('duplicate', 'attributes out of order', keyStart)
    previous = key
    const value = reader.readBytes()
    if (key === 1) {
      derivationPath = readCanonical(
        value,
        (inner) => inner.readBytes(),
        (writer, path) => writer.bytes(path),
      )
    } else if (key === 2) {
      networkMagic = readCanonical(
        value,
        (inner) => inner.readUint(0xffff_ffff),
        (writer, magic) => writer.uint(magic),
      )
    } else {
      unknownLength += value.length
    }
  }
  return {
    ...(derivationPath === undefined ? {} : { derivationPath }),
    ...(networkMagic === undefined ? {} : { networkMagic }),
    unknownLength,
  }
}

/** What the rule OutputBootAddrAttrsTooBig measures, in bytes: the derivation path and every unknown attribute. */
export function bootstrapAttributesSize(address: ByronAddress): number {
  const { derivationPath, unknownLength } = readByronAttributes(new CborReader(address.attributes))
  return (derivationPath?.length ?? 0) + unknownLength
}

// [0, [0, h'…64 bytes'], attributes], up to the 64 bytes.
const rootPrefix = Uint8Array.of(0x83, 0x00, 0x82, 0x00, 0x58, 0x40)

/**
 * The root of the address whose key a bootstrap witness shows: of type 0, its extended public key, and its attributes. The
 * parts are strung together as they are, as the ledger does, whether or not that is CBOR.
 */
export function bootstrapRoot(witness: {
  readonly publicKey: Uint8Array
  readonly chainCode: Uint8Array
  readonly attributes: Uint8Array
}): Uint8Array {
  return blake2b224(
    sha3_256(concatBytes(rootPrefix, witness.publicKey, witness.chainCode, witness.attributes)),
  )
}

function readCanonical<T>(
  encoded: Uint8Array,
  read: (reader: CborReader) => T,
  write: (writer: CborWriter, value: T) => CborWriter,
): T {
  const reader = new CborReader(encoded)
  const value = read(reader)
  reader.assertEnd()
  if (write(new CborWriter(), value).toBytes().length !== encoded.length) {
    throw reader.error('out-of-range', 'an attribute that is not in its shortest form', 0)
  }
  return value
}
