import { endOfTurn, operatorInTurn } from '@ratatosk/contracts'
import { firstSlotFrom, type RegistryElement, readRegistry } from '@ratatosk/layer1'
import { equalBytes, slotToTime, timeToSlot } from '@ratatosk/ledger'
import { Refusal } from '../refusal.js'
import type { Work } from './work.js'

/** The registry of operators, the own one among them. */
export async function readOperators({ layer1, contracts, operator, signal }: Work): Promise<RegistryElement> {
  const registry = readRegistry(contracts, await layer1.utxosByUnit(contracts.registry.unit, { signal }))
  if (registry?.datum.active.some(({ vkey }) => equalBytes(vkey, operator.keys.payment.hash))) return registry
  throw new Refusal(
    'not-registered',
    'The operator is not in the registry: initialising a state queue registers the operator',
  )
}

export interface Times {
  /** The first in which the commitment is valid. */
  readonly slot: bigint
  /** The block's, and the end of that validity: POSIX milliseconds. */
  readonly endTime: bigint
}

/**
 * When a block ends that is committed now: with the validity of its transaction, within the operator's turn, after the block before.
 *
 * @param previousEnd of the block before
 * @param tip slot of layer 1's newest block
 * @returns why a block has to wait
 */
export async function planTurn(
  { layer1, contracts, operator, slots, blockValidityMs, signal }: Work,
  { datum }: RegistryElement,
  previousEnd: bigint,
  tip: bigint,
): Promise<Times | Refusal> {
  const { turnLength } = contracts.parameters
  const current = await layer1.currentSlot({ signal })
  const now = slotToTime(slots, current)
  const scheduled = operatorInTurn(datum, now, turnLength)
  if (scheduled === undefined || !equalBytes(scheduled.vkey, operator.keys.payment.hash)) {
    return new Refusal('not-in-turn', "It is another operator's turn: wait for the next")
  }
  const turnEnd = endOfTurn(now, turnLength)
  const latest = slotToTime(slots, timeToSlot(slots, turnEnd))
  // Layer 1 must have time enough to include it.
  const least = min(BigInt(blockValidityMs), turnLength) / 3n
  // A block that ends with the turn is the turn's last: towards its end, each leaves half of what is left to others.
  const validity = min(BigInt(blockValidityMs), max(least, (turnEnd - now) / 2n))
  const wanted = max(now + validity, previousEnd + 1n)
  const endTime = min(slotToTime(slots, firstSlotFrom(slots, wanted)), latest)
  if (endTime <= previousEnd || endTime - now < least) {
    return new Refusal('not-in-turn', "Too little is left of the operator's turn: wait for the next")
  }
  // A clock that is ahead of the network's must not make it wait; but the whole validity lies in one turn.
  return { slot: max(min(tip, current), firstSlotFrom(slots, turnEnd - turnLength)), endTime }
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
