import type { Socket } from 'node:net'
import { TurnQueue } from './turns.js'

/** For how long requests make way for connections that arrive, in milliseconds. */
const patienceMs = 500

/** Of the time in which requests do not make way, the part for which they make way again. */
const recovery = 0.1

/** For how long requests can make way at least, when they begin to, in milliseconds. */
const leastPatienceMs = 50

/** Requests that make way for the connections of other clients. */
interface RequestQueue {
  connectionArrived(): void
  /** Calls `handle`, at once unless connections arrive or other requests wait. Not if the client leaves. */
  add(client: Socket, handle: () => void): void
}

/**
 * Lets requests wait while connections arrive. Node accepts one connection in each turn of the event loop, so
 * the last of a thousand would wait for the requests of all others. Requests make way for bursts only: to
 * connections that arrive without end, for a tenth of the time. Requests keep their order.
 */
export function requestQueue(): RequestQueue {
  /** This turn and the next one are left when a connection arrives. */
  let turnsLeft = 0
  let patience = patienceMs
  let isMakingWay = false
  let asked = performance.now()
  const queue = new TurnQueue(() => {
    const now = performance.now()
    const passed = now - asked
    asked = now
    patience = Math.min(patienceMs, patience + (isMakingWay ? -passed : passed * recovery))
    isMakingWay = turnsLeft > 0 && patience > (isMakingWay ? 0 : leastPatienceMs)
    return !isMakingWay
  })

  function turnEnds(): void {
    turnsLeft--
    if (turnsLeft > 0) setImmediate(turnEnds)
  }

  return {
    connectionArrived() {
      if (turnsLeft === 0) setImmediate(turnEnds)
      turnsLeft = 2
    },
    add(client, handle) {
      if (turnsLeft === 0 && queue.isEmpty) return handle()
      // A pipelined response does not emit that its client has left.
      queue.add(() => {
        if (!client.destroyed) handle()
      })
    },
  }
}
