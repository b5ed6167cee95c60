import { CborReader, CborWriter, concatBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'

const bytes = (hex: string): string => toHex(new CborWriter().bytes(fromHex(hex)).toBytes())
const hash = (byte: string, length: number): string => bytes(byte.repeat(length))
/** CBOR in a byte string. */
const embedded = (hex: string): string => `d818${bytes(hex)}`

const policy = hash('a1', 28)
const keyAddress = bytes(`60${'c1'.repeat(28)}`)
const baseAddress = bytes(`30${'c1'.repeat(28)}${'c2'.repeat(28)}`)
const pointerAddress = bytes(`41${'c1'.repeat(28)}81020304`)
/** A constructor with a bignum, a string in parts, and the general form of a constructor. */
const data = 'd8799f01c241025f41044105ff20a1d866821a0008000081d9050081209f01ffff'
/** `at least 1` of a signature, a start, an end, and none. */
const native = `83030184${`8200${hash('d1', 28)}`}${'82041903e8'}${'82051a000fffff'}${'820180'}`

const outputs = [
  `82${keyAddress}1a001e8480`,
  `83${baseAddress}821a001e8480a1${policy}a240014461626364${'1b7fffffffffffffff'}${hash('e1', 32)}`,
  `a400${pointerAddress}01821a001e8480a1${policy}a14162050282${`01${embedded(data)}`}` +
    `03${embedded(`8200${native}`)}`,
  `a300${keyAddress}011a001e8480028200${hash('e2', 32)}`,
]
const input = (byte: string, index: string): string => `82${hash(byte, 32)}${index}`

/** By number, without the hash of the auxiliary data. */
const fields = [
  `00d9010282${input('01', '00')}${input('02', '190100')}`,
  `01${(0x80 + outputs.length).toString(16)}${outputs.join('')}`,
  '021a00030d40',
  '031a000fffff',
  `05a1${bytes(`f0${'c3'.repeat(28)}`)}00`,
  '0805',
  `09a1${policy}a2400144616263643a000f423f`,
  `0b${hash('b1', 32)}`,
  `0d81${input('03', '01')}`,
  `0ed9010281${hash('c1', 28)}`,
  '0f00',
  `10a200${keyAddress}01821a001e8480a1${policy}a14001`,
  '111a000186a0',
  `129f${input('04', '02')}ff`,
]
const witnesses = [
  `00d901028182${hash('f1', 32)}${hash('f2', 64)}`,
  `0181${native}`,
  `028184${hash('f3', 32)}${hash('f4', 64)}${hash('f5', 32)}41a0`,
  '0381420100',
  `0481${data}`,
  `05a282000082${data}821903e81903e882010082${data}821903e81903e8`,
  '0681420200',
  '0781420300',
]
/** Metadata of every kind, and scripts of every language. */
const metadata = `a219029fa2616120${bytes('01')}8261621a00010000035f4101ff`
const auxiliary = `d90103a500${metadata}0181${native}028142010003814202000481420300`

function framed(auxiliaryData: Uint8Array, hashed: Uint8Array): Uint8Array {
  const head = fromHex(`84${(0xa0 + fields.length + 1).toString(16)}${fields.join('')}075820`)
  const witnessSet = fromHex(`${(0xa0 + witnesses.length).toString(16)}${witnesses.join('')}`)
  return concatBytes(head, hashed, witnessSet, Uint8Array.of(0xf5), auxiliaryData)
}

/** A transaction with every field that layer 2 supports, each in an unusual form. */
export const everything = framed(fromHex(auxiliary), blake2b256(fromHex(auxiliary)))

/** The transaction with its auxiliary data's hash in the body, so that it hides no change of them. */
export function withEverything(cbor: Uint8Array): Uint8Array {
  try {
    const reader = new CborReader(cbor)
    reader.readArray()
    const place = hashPlace(reader)
    reader.skip()
    reader.readBoolean()
    const hashed = blake2b256(cbor.subarray(reader.position))
    if (place === undefined) return cbor
    const copy = cbor.slice()
    copy.set(hashed, place)
    return copy
  } catch (error) {
    if (isDecodeError(error)) return cbor
    throw error
  }
}

/** Where the body has the hash of auxiliary data, which is left behind the body. */
function hashPlace(reader: CborReader): number | undefined {
  const count = reader.readMap()
  let place: number | undefined
  for (let index = 0; reader.hasNext(count, index); index++) {
    const key = reader.readUint()
    if (key === 7) place = reader.position + 2
    reader.skip()
    if (key === 7 && place !== undefined && reader.position !== place + 32) place = undefined
  }
  return place
}
