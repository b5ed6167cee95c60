import type { ChainTip, ChainView, SlotRange } from '../view/chain-view.js'
import { hints, KupoError } from './hints.js'
import type { Parameters } from './parameters.js'

/** Kupo's database has no larger slots. */
const mostSlot = 2n ** 63n - 2n

/** Reads an absolute slot; undefined if the text is not a slot. */
export function readSlot(text: string): bigint | undefined {
  if (!/^\d+$/.test(text)) return undefined
  const digits = text.replace(/^0+/, '')
  if (digits.length > 19) return undefined
  const slot = BigInt(digits)
  return slot < mostSlot ? slot : undefined
}

interface Bound {
  readonly slot: bigint
  /** Of a point: the hash of its block; null for the origin. */
  readonly hash?: string | null
}

const bounds = {
  created_after: ['createdIn', 'from'],
  created_before: ['createdIn', 'to'],
  spent_after: ['spentIn', 'from'],
  spent_before: ['spentIn', 'to'],
} as const

type BoundName = keyof typeof bounds

const isBound = (name: string): name is BoundName => Object.hasOwn(bounds, name)

/** True if a query has a bound: its answer depends on the slot of an open block. */
export function hasBounds(parameters: Parameters): boolean {
  return parameters.some(([name]) => isBound(name))
}

export interface SlotBounds {
  readonly createdIn?: SlotRange
  readonly spentIn?: SlotRange
  /** The bounds that are points. */
  readonly points: readonly Bound[]
}

/** Reads the bounds of a query: at most a lower one and an upper one. @throws {KupoError} */
export function readBounds(parameters: Parameters): SlotBounds {
  const ranges: { createdIn?: SlotRange; spentIn?: SlotRange } = {}
  const points: Bound[] = []
  const known = new Set<string>()
  for (const [name, text] of parameters) {
    if (!isBound(name)) continue
    const [field, side] = bounds[name]
    const bound = readBound(text ?? '')
    if (bound === undefined || known.has(side)) throw new KupoError(hints.slotRange)
    known.add(side)
    if (bound.hash !== undefined) points.push(bound)
    ranges[field] = { ...ranges[field], [side]: bound.slot }
  }
  return { ...ranges, points }
}

function readBound(text: string): Bound | undefined {
  const plain = readSlot(text)
  if (plain !== undefined) return { slot: plain }
  const trimmed = text.trim().toLowerCase()
  if (trimmed === 'origin') return { slot: 0n, hash: null }
  const [digits = '', hash, ...rest] = trimmed.split('.')
  const slot = readSlot(digits)
  if (slot === undefined || hash === undefined || !/^[0-9a-f]{64}$/.test(hash) || rest.length > 0)
    return undefined
  return { slot, hash }
}

/** @throws {KupoError} unless each point is one of the chain */
export async function requirePoints(chain: ChainView, points: readonly Bound[]): Promise<void> {
  for (const { slot, hash } of points) {
    const found = await chain.blockUntil(slot)
    if (found.slot === slot && found.hash === hash) continue
    if (typeof hash === 'string' && (await isOpenAt(chain, hash, slot, found))) continue
    if (found.height === 0 || hash === null) throw new KupoError(hints.unknownPoint)
    const ancestor = pointJson(found)
    throw new KupoError(`${hints.unknownPoint} details.ancestor is the newest block before it.`, 400, {
      ancestor,
    })
  }
}

/** An open block has had each slot since the block before it, `found`. */
async function isOpenAt(chain: ChainView, hash: string, slot: bigint, found: ChainTip): Promise<boolean> {
  const block = await chain.block(hash)
  return block?.open === true && block.height === found.height + 1 && slot <= block.slot
}

export function pointJson({ slot, hash }: { readonly slot: bigint; readonly hash: string }) {
  return { slot_no: slot, header_hash: hash }
}
