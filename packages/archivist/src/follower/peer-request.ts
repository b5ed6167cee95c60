import type { Feed } from '../body/feed.js'

/** Fewer bytes than this in a stall period are no progress. */
const leastProgress = 65_536

export interface PeerRequest<Result> {
  readonly url: string
  /** Takes the answer as it comes; what it throws ends the request. */
  readonly feed: Feed<Result>
  /** Milliseconds. */
  readonly stallMs: number
  readonly signal: AbortSignal
}

/**
 * Asks a peer, whatever it may be up to: the answer is bounded by its feed, and each stall period must bring 64 KiB or the end.
 *
 * @returns undefined where the peer does not have it (404)
 * @throws Error that says what the peer did wrong; the signal's reason where that has ended
 */
export async function askPeer<Result>({
  url,
  feed,
  stallMs,
  signal,
}: PeerRequest<Result>): Promise<Result | undefined> {
  const stop = new AbortController()
  let progress = 0
  const stall = setInterval(() => {
    if (progress < leastProgress) stop.abort(new Error(`it sent ${progress} bytes in ${stallMs} ms`))
    progress = 0
  }, stallMs)
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/cbor' },
      // Whoever a redirect names is nobody that was chosen as a peer.
      redirect: 'error',
      signal: AbortSignal.any([stop.signal, signal]),
    })
    if (response.status === 404) return undefined
    if (response.status !== 200) throw new Error(`it answered ${response.status}`)
    for await (const piece of response.body ?? []) {
      progress += piece.length
      feed.push(piece)
    }
    return feed.end()
  } catch (error) {
    signal.throwIfAborted()
    if (stop.signal.aborted) throw stop.signal.reason
    throw described(error)
  } finally {
    clearInterval(stall)
    // Nothing more is wanted of the connection, whatever is still on its way.
    stop.abort()
  }
}

/** fetch says `fetch failed` or `terminated`, and the reason in its cause. */
function described(error: unknown): unknown {
  const cause = error instanceof TypeError ? error.cause : undefined
  if (!(cause instanceof Error)) return error
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
  return new Error(`the connection failed (${code})`, { cause: error })
}
