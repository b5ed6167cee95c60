import { CborWriter, compareBytes, concatBytes, equalBytes } from '@ratatosk/cbor'
import { blake2b256, keyAddress } from '@ratatosk/ledger'
import type { Deposit } from './body.js'
import type { Derivation } from './derivation/types.js'
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

/** Adds the fee output of all transactions so far to a derivation. @returns it, undefined without fees */
export function creditFees(
  derivation: Pick<Derivation, 'deposit' | 'fees'>,
  target: FeeTarget,
): Deposit | undefined {
  const fees = feeOutput(target, derivation.fees)
  if (fees !== undefined) derivation.deposit(fees)
  return fees
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
