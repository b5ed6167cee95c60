import type { BlockBody, EncodedBody } from '@ratatosk/block'

/** Bytes of bodies, and of what is derived from them, that a process holds at a time. */
const defaultBytes = 96 * 1024 * 1024

/** A budget of bytes for all bodies of others that a process downloads and derives. */
export interface BodyBudget {
  /** Takes a place behind the shares that are open. */
  open(): BodyShare
}

/**
 * The share of one body in a budget. The oldest share gets what it asks for, so that no share waits for ever;
 * the others wait until there is room.
 */
export interface BodyShare {
  /** Resolves when the bytes are this share's; rejects with the reason of the signal. */
  take(bytes: number, signal: AbortSignal): Promise<void>
  /** Resolves when this share is the oldest, or `isNeedless` holds when another one changes. */
  oldest(isNeedless: () => boolean, signal: AbortSignal): Promise<void>
  /** Gives back the bytes, but not the place. */
  release(): void
  /** Gives back both. */
  end(): void
}

/** Bytes that are taken at a time, the first before a request is sent: few bodies need more. */
const step = 8 * 1024 * 1024

/** Bytes that a derivation takes for each byte of its transactions and deposits, in the worst case. */
const derivedFactor = 12

/** Returns a function that takes of a share what a body needs as it grows. */
export function createRoom(share: BodyShare, signal: AbortSignal): (bytes: number) => Promise<void> {
  let room = 0
  let taken = 0
  return async (bytes) => {
    for (taken += bytes; taken > room || room === 0; room += step) await share.take(step, signal)
  }
}

/** The pieces of a body, each once a share has room for it. */
export async function* piecesWithin(
  pieces: AsyncIterable<Uint8Array>,
  share: BodyShare,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const room = createRoom(share, signal)
  for await (const piece of pieces) {
    await room(piece.length)
    yield piece
  }
}

/** @param mayCredit whether the body may have deposits: without them, the rest of it need not be decoded */
export async function takeDerivation(
  body: Pick<BlockBody, 'transactions' | 'deposits'> | EncodedBody,
  share: BodyShare,
  signal: AbortSignal,
  mayCredit: boolean,
): Promise<void> {
  let bytes = body.transactions.reduce((sum, { length }) => sum + length, 0)
  if (mayCredit) {
    if ('decodeDiff' in body) await body.decodeDiff()
    for (const { output } of body.deposits ?? []) bytes += output.length
  }
  return share.take(derivedFactor * bytes, signal)
}

interface Waiter {
  readonly isReady: () => boolean
  readonly resolve: () => void
}

/**
 * Creates the budget of a process: the owner of followers and of `createPeers` gives it to all of them.
 *
 * @param bytes beyond which only the oldest share goes on
 */
export function createBodyBudget(bytes = defaultBytes): BodyBudget {
  /** The open shares and what they hold, the oldest first. */
  const held = new Map<BodyShare, number>()
  const waiters = new Set<Waiter>()
  let used = 0

  const isOldest = (share: BodyShare): boolean => held.keys().next().value === share

  function changed(): void {
    for (const waiter of waiters) {
      if (!waiter.isReady()) continue
      waiters.delete(waiter)
      waiter.resolve()
    }
  }

  function when(isReady: () => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      if (isReady()) return resolve()
      const refuse = (): void => {
        waiters.delete(waiter)
        reject(signal.reason)
      }
      const waiter: Waiter = {
        isReady,
        resolve() {
          signal.removeEventListener('abort', refuse)
          resolve()
        },
      }
      waiters.add(waiter)
      signal.addEventListener('abort', refuse, { once: true })
    })
  }

  function hold(share: BodyShare, next: number): void {
    used += next - (held.get(share) ?? 0)
    held.set(share, next)
  }

  return {
    open() {
      const share: BodyShare = {
        take(more, signal) {
          function isTaken(): boolean {
            if (used + more > bytes && !isOldest(share)) return false
            hold(share, (held.get(share) ?? 0) + more)
            return true
          }
          return when(isTaken, signal)
        },

        oldest: (isNeedless, signal) => when(() => isOldest(share) || isNeedless(), signal),

        release() {
          hold(share, 0)
          changed()
        },

        end() {
          hold(share, 0)
          held.delete(share)
          changed()
        },
      }
      held.set(share, 0)
      return share
    },
  }
}
