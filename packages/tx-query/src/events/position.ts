import type { EventPosition } from '@ratatosk/ports'

// 18 digits fit into PostgreSQL's bigint.
const pattern = /^([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,18})(?:\.([0-9]{1,18}))?$/

/** The id of an event, the position after it: `<accepted>.<rejected>.<block>`, and perhaps `.<verdict>`. */
export function formatPosition({ accepted, rejected, block, verdict }: EventPosition): string {
  return `${accepted}.${rejected}.${block}${verdict === 0n ? '' : `.${verdict}`}`
}

/** Reads the id of an event; undefined if the text is not one. */
export function parsePosition(text: string): EventPosition | undefined {
  const [, accepted, rejected, block, verdict = 0] = pattern.exec(text) ?? []
  if (accepted === undefined || rejected === undefined || block === undefined) return undefined
  return {
    accepted: BigInt(accepted),
    rejected: BigInt(rejected),
    block: BigInt(block),
    verdict: BigInt(verdict),
  }
}

/** Whether a position has reached another in each kind. */
export function covers(position: EventPosition, other: EventPosition): boolean {
  return (
    position.accepted >= other.accepted &&
    position.rejected >= other.rejected &&
    position.block >= other.block &&
    position.verdict >= other.verdict
  )
}

export const latest = ofEachKind((one, other) => one > other)

export const earliest = ofEachKind((one, other) => one < other)

function ofEachKind(isWanted: (one: bigint, other: bigint) => boolean) {
  const choose = (one: bigint, other: bigint) => (isWanted(one, other) ? one : other)
  return (one: EventPosition, other: EventPosition): EventPosition => ({
    accepted: choose(one.accepted, other.accepted),
    rejected: choose(one.rejected, other.rejected),
    block: choose(one.block, other.block),
    verdict: choose(one.verdict, other.verdict),
  })
}
