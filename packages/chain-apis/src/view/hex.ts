import { toHex } from '@ratatosk/cbor'

/** Both APIs show what is absent as null. */
export const hexOrNull = (bytes: Uint8Array | undefined): string | null =>
  bytes === undefined ? null : toHex(bytes)
