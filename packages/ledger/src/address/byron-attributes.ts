import { CborReader, CborWriter, concatBytes } from '@ratatosk/cbor'
import { blake2b224, sha3_256 } from '#crypto'
import type { ByronAddress } from './types.js'

interface ByronAttributes {
  /** Attribute 1: the encrypted derivation path, written by the first Byron wallets. */
  readonly derivationPath?: Uint8Array
  /** Attribute 2. */
  readonly networkMagic?: number
  /** Total size of the attributes that the ledger does not know, in bytes. */
  readonly unknownLength: number
}

/** Decodes the attribute map: number → CBOR in bytes; keys strictly ascending, known values canonical. */
export function readByronAttributes(reader: CborReader): ByronAttributes {
  const start = reader.position
  const count = reader.readMap()
  if (count < 0) throw reader.error('CBOR_UNEXPECTED_TYPE', 'a map of indefinite length', start)
  let derivationPath: Uint8Array | undefined
  let networkMagic: number | undefined
  let unknownLength = 0
  let previous = -1
  for (let i = 0; i < count; i++) {
    const keyStart = reader.position
    const key = reader.readUint(0xff)
    if (key <= previous) throw reader.error('CBOR_DUPLICATE', 'attributes out of order', keyStart)
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

/** The size that OutputBootAddrAttrsTooBig limits, in bytes: derivation path and unknown attributes. */
export function bootstrapAttributesSize(address: ByronAddress): number {
  const { derivationPath, unknownLength } = readByronAttributes(new CborReader(address.attributes))
  return (derivationPath?.length ?? 0) + unknownLength
}

// The bytes of [0, [0, h'…64 bytes'], attributes] that precede the 64 bytes.
const rootPrefix = Uint8Array.of(0x83, 0x00, 0x82, 0x00, 0x58, 0x40)

/**
 * The root of the Byron address that a bootstrap witness unlocks: the hash of type 0, the extended public key
 * and the attributes. Like the ledger, it does not check that their concatenation is CBOR.
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
    throw reader.error('CBOR_OUT_OF_RANGE', 'an attribute that is not in its shortest form', 0)
  }
  return value
}
