import { hexOrNull, toHex } from '@ratatosk/cbor'
import type { TransactionOutput } from '@ratatosk/ledger'
import type {
  BlockPoint,
  BlockRange,
  ChainOutput,
  ChainOutputQuery,
  ListPart,
  Place,
  SlotRange,
} from './chain-view.js'

/** Orders places from oldest to newest. */
export function comparePlaces(a: Place, b: Place): number {
  return a.block.height - b.block.height || a.position - b.position
}

/** True if an output was created, and spent, in the slots of a query. Other fields are ignored. */
export function isInSlots(
  { created, spent }: ChainOutput,
  { createdIn, spentIn }: ChainOutputQuery,
): boolean {
  if (createdIn !== undefined && !isWithinSlots(created, createdIn)) return false
  return spentIn === undefined || (spent !== undefined && isWithinSlots(spent, spentIn))
}

function isWithinSlots({ block: { slot } }: Place, { from, to }: SlotRange): boolean {
  return (from === undefined || slot >= from) && (to === undefined || slot <= to)
}

/** True if a place is in a range of blocks. */
export function isWithin({ block, position }: Place, { from, to }: BlockRange): boolean {
  const beyond = (point: BlockPoint) => block.height - point.height || position - (point.position ?? position)
  return (from === undefined || beyond(from) >= 0) && (to === undefined || beyond(to) <= 0)
}

/** The units of the native assets in an output: policy id followed by the asset name, in hex. */
export function* units({ value }: TransactionOutput): Generator<string> {
  for (const [policy, names] of value.assets) for (const name of names.keys()) yield policy + name
}

/** Hash of the payment key or script in hex; undefined for a Byron address. */
export function paymentCredential({ address }: TransactionOutput): string | undefined {
  return 'payment' in address ? toHex(address.payment.hash) : undefined
}

/** Hash of the stake key or script in hex; undefined if the address has none. */
export function stakeCredential({ address }: TransactionOutput): string | undefined {
  return 'stake' in address && address.stake !== undefined ? toHex(address.stake.hash) : undefined
}

/**
 * True if an output has the address, credentials, assets and reference script of a query. Other fields are
 * ignored.
 */
export function holdsFor(output: TransactionOutput, query: ChainOutputQuery): boolean {
  const { address, paymentCredential: payment, stakeCredential: stake, policy, unit, referenceScript } = query
  if (address !== undefined && toHex(output.address.bytes) !== address) return false
  if (payment !== undefined && paymentCredential(output) !== payment) return false
  if (stake !== undefined && stakeCredential(output) !== stake) return false
  if (referenceScript !== undefined && hexOrNull(output.referenceScript?.hash) !== referenceScript)
    return false
  if (policy !== undefined && !output.value.assets.has(policy)) return false
  if (unit === undefined) return true
  return output.value.assets.get(unit.slice(0, 56))?.has(unit.slice(56)) === true
}

/** A part of a list that is oldest first. */
export function partOf<T>(items: readonly T[], { offset, limit, order }: ListPart): T[] {
  const ordered = order === 'newest-first' ? [...items].reverse() : items
  return ordered.slice(offset, offset + limit)
}
