/** Knows how far a replica is behind, by positions in the log that its primary writes. */
export interface ReplicaLag {
  /** Notes where the log of the primary ended at a time. */
  flushed(position: bigint, at: number): void
  /** Notes that the replica has replayed the log up to a position. */
  replayed(position: bigint): void
  /** Milliseconds: the replica shows everything that was committed before. Undefined before it is known. */
  ms(): number | undefined
}

interface Mark {
  readonly position: bigint
  at: number
}

/** How many marks wait to be replayed at most; beyond it, every second one is forgotten. */
const mostMarks = 512

/**
 * The marks are times of one clock, this process's, so that neither an idle primary nor a clock that is wrong
 * makes a replica look better than it is.
 */
export function trackReplicaLag(now: () => number): ReplicaLag {
  let marks: Mark[] = []
  let shownAt: number | undefined
  return {
    flushed(position, at) {
      const last = marks.at(-1)
      if (last?.position === position) last.at = at
      else {
        // Another server has become the primary.
        if (last !== undefined && position < last.position) marks = []
        marks.push({ position, at })
      }
      if (marks.length > mostMarks) marks = marks.filter((_, place) => place % 2 === 0)
    },
    replayed(position) {
      const place = marks.findLastIndex((mark) => mark.position <= position)
      const mark = marks[place]
      if (mark === undefined) return
      shownAt = mark.at
      marks = marks.slice(place + 1)
    },
    ms: () => (shownAt === undefined ? undefined : now() - shownAt),
  }
}
