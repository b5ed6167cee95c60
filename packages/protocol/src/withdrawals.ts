import { isBridgeAddress } from '@ratatosk/block'
import { isDecodeError } from '@ratatosk/cbor'
import {
  type Assets,
  decodeTransactionOutput,
  minimumLovelace,
  type OutputDatum,
  type TransactionOutput,
} from '@ratatosk/ledger'
import { toOutput } from '@ratatosk/ledger/builder'
import { areBridged, paysBridge } from './bridge.js'
import type { Bridge, Contracts } from './contracts.js'

/** An output that has left layer 2. */
export interface Withdrawal {
  /** Its reference on layer 2, CBOR. */
  readonly outref: Uint8Array
  /** CBOR. */
  readonly output: Uint8Array
  /** Its payer keeps `payoutFee` of it. */
  readonly lovelace: bigint
  readonly assets: Assets
  /** The address on layer 1. */
  readonly payTo: Uint8Array
  /** Of the datum that the payment states. */
  readonly datumHash?: Uint8Array
}

/**
 * Reads an output that has left layer 2.
 *
 * @param outref CBOR
 * @param output CBOR
 * @returns undefined if it cannot be paid
 */
export function readWithdrawal(
  { bridge, networkId }: Contracts,
  outref: Uint8Array,
  output: Uint8Array,
): Withdrawal | undefined {
  if (bridge === undefined) return undefined
  try {
    const decoded = decodeTransactionOutput(output)
    const target = targetOf(bridge, networkId, decoded)
    if (typeof target === 'string') return undefined
    return { outref, output, ...decoded.value, ...target }
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}

/**
 * Says why an output to the bridge's address on layer 2 must not be admitted: it could not be paid, or only
 * as a gift to the bridge, or its payer would lose by it. Blocks of others may have such outputs: no settler
 * pays them.
 *
 * @param coinsPerUtxoByte of layer 1
 * @returns undefined if it is admitted
 */
export function withdrawalFault(
  { bridge, networkId }: Contracts,
  output: TransactionOutput,
  coinsPerUtxoByte: bigint,
): string | undefined {
  if (bridge === undefined) return 'there is no bridge'
  const target = targetOf(bridge, networkId, output)
  if (typeof target === 'string') return target
  if (paysBridge(bridge, target.payTo))
    return "its datum is the bridge's own address, and not that of a wallet"
  const { lovelace } = output.value
  const { payoutFee } = bridge.terms
  const paid = paidOutput({ ...output.value, ...target }, lovelace > payoutFee ? lovelace - payoutFee : 0n)
  const least = payoutFee + minimumLovelace(paid, { coinsPerUtxoByte })
  return lovelace < least ? `it holds less than ${least} lovelace` : undefined
}

/** The datum of the payment of a withdrawal. */
export const datumOfPayment = ({ datumHash }: Pick<Withdrawal, 'datumHash'>): OutputDatum =>
  datumHash === undefined ? { kind: 'none' } : { kind: 'hash', hash: datumHash }

type Target = Pick<Withdrawal, 'payTo' | 'datumHash'>

const paidOutput = (
  { payTo, assets, datumHash }: Target & Pick<Withdrawal, 'assets'>,
  lovelace: bigint,
): TransactionOutput =>
  toOutput({
    address: payTo,
    value: { lovelace, assets },
    datum: datumOfPayment(datumHash === undefined ? {} : { datumHash }),
  })

const [enterpriseLength, baseLength, hashLength] = [29, 57, 32]

/** Where a withdrawal is paid, or its fault. */
function targetOf(
  bridge: Bridge,
  networkId: number,
  { address, value, datum, referenceScript }: TransactionOutput,
): Target | string {
  if (!isBridgeAddress(address.bytes, bridge.place.script.hash)) return 'it is not paid to the bridge'
  if (referenceScript !== undefined) return 'it holds a reference script'
  if (!areBridged(bridge, value.assets)) return 'it holds assets that are not bridged'
  if (datum.kind !== 'inline') return 'it has no inline datum with an address on layer 1'
  const content = byteStringOf(datum.data)
  if (content === undefined) return 'its datum is not one byte string'
  const { length } = content
  if (length !== enterpriseLength && length !== baseLength && length !== enterpriseLength + hashLength)
    return `its datum has ${length} bytes, and not ${enterpriseLength}, ${baseLength} or 61`
  const payTo = length === baseLength ? content : content.subarray(0, enterpriseLength)
  if (!isPaymentAddress(payTo, networkId)) return 'its datum is not a payment address of this network'
  return {
    payTo,
    ...(length === enterpriseLength + hashLength && { datumHash: content.subarray(enterpriseLength) }),
  }
}

/** A Shelley address without a pointer, of which the script can build the ledger's form. */
export function isPaymentAddress(address: Uint8Array, networkId: number): boolean {
  const [header = 0] = address
  const type = header >> 4
  const hasLength =
    type < 4
      ? address.length === baseLength
      : (type === 6 || type === 7) && address.length === enterpriseLength
  return hasLength && (header & 0x0f) === networkId
}

/** The content of a definite byte string with a head of two bytes. */
function byteStringOf(data: Uint8Array): Uint8Array | undefined {
  const [head, length = 0] = data
  return head === 0x58 && data.length === length + 2 ? data.subarray(2) : undefined
}
