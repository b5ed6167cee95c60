import { equalBytes, isDecodeError } from '@ratatosk/cbor'
import { decodeTransactionOutput } from '@ratatosk/ledger'

/** The address type of CIP-19 for a script without a stake part. */
const enterpriseScript = 7
const hashLength = 28

/**
 * Whether an address is the place on layer 2 where outputs leave it: the enterprise address of the bridge's
 * script.
 *
 * @param address bytes of CIP-19
 * @param bridge hash of the script, 28 bytes; undefined in a deployment without a bridge
 */
export function isBridgeAddress(address: Uint8Array, bridge: Uint8Array | undefined): boolean {
  if (bridge === undefined || address.length !== hashLength + 1) return false
  return (address[0] ?? 0) >> 4 === enterpriseScript && equalBytes(address.subarray(1), bridge)
}

/**
 * Whether an output leaves layer 2: it is paid to the bridge. Total: an output that does not decode stays.
 *
 * @param output CBOR
 * @param bridge as in {@link isBridgeAddress}
 */
export function isLeaving(output: Uint8Array, bridge: Uint8Array | undefined): boolean {
  if (bridge === undefined) return false
  const address = shortAddress(output)
  if (address !== undefined) return isBridgeAddress(address, bridge)
  try {
    return isBridgeAddress(decodeTransactionOutput(output).address.bytes, bridge)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    return false
  }
}

const oneByteLength = 0x58

/** The address of an output in a usual encoding, which spares decoding it; undefined in any other. */
function shortAddress(output: Uint8Array): Uint8Array | undefined {
  const [head = 0, first] = output
  const isMap = head >= 0xa1 && head <= 0xb7 && first === 0
  const isArray = head >= 0x82 && head <= 0x84
  const start = isMap ? 2 : 1
  if (!(isMap || isArray) || output[start] !== oneByteLength) return undefined
  const length = output[start + 1] ?? 0
  const address = output.subarray(start + 2, start + 2 + length)
  return address.length === length ? address : undefined
}
