import type { BlockEvent } from '@ratatosk/client'
import { readStream } from './stream.js'

export interface PastEvent {
  /** POSIX milliseconds. */
  readonly at: number
  readonly kind: 'accepted' | 'rejected' | 'block'
  /** Of a rejected submission. */
  readonly id?: string
  readonly txHash?: string
  readonly code?: string
  readonly headerHash?: string
  readonly height?: number
  readonly state?: BlockEvent['state']
  readonly transactions?: number
}

/** Events of each kind that are read, the newest. */
const most = 5_000

/** A position of `/events`: how many of each kind are before it, verdicts last. */
const positionOf = (text: string): readonly number[] => text.split('.').map(Number)

export interface History {
  /** The oldest first. */
  readonly events: readonly PastEvent[]
  /** Whether none is missing that the node had at the beginning of the read. */
  readonly isWhole: boolean
}

/**
 * Reads the events from POSIX milliseconds on, the newest 5,000 of each kind. Rejects if the node refuses
 * events or sends nothing.
 */
export async function readHistory(from: number): Promise<History> {
  let head: readonly number[] = []
  const hasHead = await readStream('events', ({ id }) => {
    head = positionOf(id)
    return true
  })
  // Without it, all events would be read.
  if (!hasHead) throw new Error('The node has sent nothing. Try again later.')
  const found: PastEvent[] = []
  const after = head.map((count) => Math.max(0, count - most)).join('.')
  const isWhole = await readStream(
    `events?type=accepted,rejected,block&after=${after}`,
    ({ id, event, data }) => {
      if (data !== '') {
        const { at, ...rest } = JSON.parse(data)
        const time = Date.parse(at)
        if (time >= from) found.push({ ...rest, kind: event, at: time })
      }
      return positionOf(id).every((count, kind) => count >= (head[kind] ?? 0))
    },
  )
  return { events: found.sort((one, other) => one.at - other.at), isWhole }
}
