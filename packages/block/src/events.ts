import { CborWriter, compareBytes, concatBytes, equalBytes, isDecodeError } from '@ratatosk/cbor'
import { blake2b256, decodeTransactionOutput, encodeOutputReference, keyAddress } from '@ratatosk/ledger'
import { rootOf } from '@ratatosk/trie'
import type { Deposit } from './body.js'
import { BlockError } from './errors.js'
import type { Header } from './header.js'

/** The fields of a header that say where the fees of a block go. */
export type FeeHeader = Pick<Header, 'prevHeaderHash' | 'operatorVkey'>

/** Whom the fees of a block are paid to. */
export interface FeeTarget extends FeeHeader {
  /** 0 for every test network, 1 for mainnet. */
  readonly networkId: number
}

/** Blake2b-256 of the previous header hash and the output's CBOR, so that a reference fixes its output. */
const feeId = ({ prevHeaderHash }: Pick<FeeHeader, 'prevHeaderHash'>, output: Uint8Array): Uint8Array =>
  blake2b256(concatBytes(prevHeaderHash, output))

/**
 * The fee output of a block in a deployment with a bridge: the fees of all its transactions, at the
 * enterprise address (CIP-19) of its operator, as output 0 of its id. The body lists it among the deposits.
 *
 * @param fees in lovelace
 * @returns undefined without fees
 */
export function feeOutput(target: FeeTarget, fees: bigint): Deposit | undefined {
  if (fees === 0n) return undefined
  const { bytes } = keyAddress(target.operatorVkey, target.networkId === 1 ? 1 : 0)
  const output = new CborWriter().map(2).uint(0).bytes(bytes).uint(1).uint(fees).toBytes()
  return { id: feeId(target, output), output }
}

/** Whether a block credits something as its fee output, right or not. */
export const isFeeOutput = ({ id, output }: Deposit, header: Pick<FeeHeader, 'prevHeaderHash'>): boolean =>
  equalBytes(id, feeId(header, output))

/** All that a block credits: deposits of layer 1, and its fee output. Ascending by id. */
export function withFeeOutput<Credit extends Deposit>(
  deposits: readonly Credit[],
  fees: Credit | undefined,
): readonly Credit[] {
  if (fees === undefined) return deposits
  const place = deposits.findIndex(({ id }) => compareBytes(id, fees.id) > 0)
  return deposits.toSpliced(place < 0 ? deposits.length : place, 0, fees)
}

/** Takes the fee output out of what a block credits: what is left comes from layer 1. */
export const withoutFeeOutput = <Credit extends Deposit>(
  credits: readonly Credit[],
  header: Pick<FeeHeader, 'prevHeaderHash'>,
): readonly Credit[] => credits.filter((credit) => !isFeeOutput(credit, header))

/** Reads what layer 1 has for blocks; `openEventSource` of `@ratatosk/protocol` is one. */
export interface EventSource {
  /**
   * The deposits with a time in `[start, end)`, ascending by id. Only those of unmerged blocks, and of blocks
   * to come, are there: later ones may be spent.
   *
   * @param start POSIX milliseconds, as in a header
   * @returns `'not read yet'` while layer 1 may still include a deposit of this time
   */
  between(start: bigint, end: bigint, signal?: AbortSignal): Promise<readonly Deposit[] | 'not read yet'>
}

/** The `depositsRoot` of a block that credits these: 32 bytes, zeros without one. */
export const depositsRoot = (deposits: readonly Deposit[]): Promise<Uint8Array> =>
  rootOf(
    deposits.map(
      ({ id, output }) => [encodeOutputReference({ transactionId: id, index: 0 }), output] as const,
    ),
  )

/**
 * Whether a block credits just these deposits, in this order, besides its fee output.
 *
 * @param credited by the block, ascending by id
 * @param due the deposits of the block's time on layer 1, ascending by id
 */
export function creditsJust(
  credited: readonly Deposit[],
  due: readonly Deposit[],
  header: Pick<FeeHeader, 'prevHeaderHash'>,
): boolean {
  const deposits = withoutFeeOutput(credited, header)
  return (
    deposits.length === due.length &&
    deposits.every(({ id, output }, place) => {
      const other = due[place]
      return other !== undefined && equalBytes(id, other.id) && equalBytes(output, other.output)
    })
  )
}

/**
 * Why an unmerged block does not credit what layer 1 has: each deposit of its time, and no other. If it was
 * merged meanwhile, its deposits may be spent: read the state queue again before you rely on it.
 *
 * @returns {BlockError} `BLOCK_INVALID`
 */
export function faultOfDeposits(...block: Parameters<typeof creditsJust>): BlockError | undefined {
  if (creditsJust(...block)) return undefined
  const [credited, due, header] = block
  const { length } = withoutFeeOutput(credited, header)
  return new BlockError(
    'BLOCK_INVALID',
    `The block credits ${length} deposits, and not just the ${due.length} of its time on layer 1`,
  )
}

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
