import type { CborReader } from '@ratatosk/cbor'

const hashBytes = 28

/** Bits of the numbers of a pointer address, and how many bytes they may take. */
const pointerNumbers = [
  [0xffff_ffff, 5],
  [0xffff, 3],
  [0xffff, 3],
] as const

/** The first byte of an address of the Byron era. */
const byron = 0x82

/** Reads an output's address (CIP-19, types 0 to 8): whether it is of the Byron era, and so not read. */
export function readOutputAddress(reader: CborReader): boolean {
  const start = reader.position
  const address = reader.readBytes()
  if (address[0] === byron) return true
  const fault = faultOfAddress(address)
  if (fault !== undefined) throw reader.error('CBOR_OUT_OF_RANGE', fault, start)
  return false
}

/** Reads the account of a withdrawal: CIP-19, types 14 and 15. */
export function readAccount(reader: CborReader): Uint8Array {
  const start = reader.position
  const account = reader.readBytesOf(1 + hashBytes)
  const [header = 0] = account
  if (header >> 4 < 14 || (header & 15) > 1)
    throw reader.error('CBOR_OUT_OF_RANGE', 'not the address of an account', start)
  return account
}

export const isOfScript = ([header = 0]: Uint8Array): boolean => header >> 4 === 15

function faultOfAddress(address: Uint8Array): string | undefined {
  const [header] = address
  if (header === undefined) return 'an empty address'
  const type = header >> 4
  if (type > 7) return `an address of type ${type}`
  if ((header & 15) > 1) return `an address of network ${header & 15}`
  if (type === 4 || type === 5) return faultOfPointer(address)
  const expected = 1 + hashBytes * (type < 4 ? 2 : 1)
  return address.length === expected ? undefined : `an address of ${address.length} bytes`
}

function faultOfPointer(address: Uint8Array): string | undefined {
  let position = 1 + hashBytes
  for (const [maximum, groups] of pointerNumbers) {
    let value = 0
    for (let group = 0; ; group++) {
      const byte = address[position++]
      if (byte === undefined || group === groups) return 'a broken pointer in an address'
      value = value * 128 + (byte & 0x7f)
      if (value > maximum) return `a number over ${maximum} in the pointer of an address`
      if (byte < 0x80) break
    }
  }
  return position === address.length ? undefined : 'bytes after the pointer of an address'
}
