import type { BlockEvent } from '@ratatosk/client'

/** An event of the past. */
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
/** After so long without anything, the node is too slow. It sends a heartbeat after 15 s of silence. */
const quietMs = 20_000

/** A position of `/events`: how many of each kind are before it, verdicts last. */
const positionOf = (text: string): readonly number[] => text.split('.').map(Number)

/**
 * Calls with each message of an event stream, until `take` is content or nothing comes for a while.
 *
 * @returns whether `take` was content
 */
async function readStream(
  path: string,
  take: (message: { readonly id: string; readonly event: string; readonly data: string }) => boolean,
): Promise<boolean> {
  const end = new AbortController()
  let timer = window.setTimeout(() => end.abort(), quietMs)
  try {
    const answer = await fetch(path, { signal: end.signal })
    if (!answer.ok || answer.body === null)
      throw new Error(`The node refuses events: status ${answer.status}`)
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { done, value = '' } = await reader.read()
      if (done) return false
      window.clearTimeout(timer)
      timer = window.setTimeout(() => end.abort(), quietMs)
      const parts = (rest + value).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(part)?.[1] ?? ''
        if (take({ id: field('id'), event: field('event'), data: field('data') })) return true
      }
    }
  } catch (error) {
    if (!end.signal.aborted) throw error
    return false
  } finally {
    window.clearTimeout(timer)
    end.abort()
  }
}

/** Events of the past. */
export interface History {
  /** The oldest first. */
  readonly events: readonly PastEvent[]
  /** Whether none is missing that the node had at the beginning of the read. */
  readonly isWhole: boolean
}

/**
 * Reads the newest events, at most 5,000 of each kind.
 *
 * @param from POSIX milliseconds; earlier events are left out
 * @throws (rejects) Error if the node refuses events or sends nothing
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
