import type { WebSocket } from '@fastify/websocket'
import { Mutex } from 'async-mutex'

/**
 * Sends a message, whole or in parts, after those before it. Resolves when the connection has taken it, so
 * that a client that does not read gets no further responses.
 */
export type Send = (message: string | AsyncIterable<string | Buffer>) => Promise<void>

/** Bytes of a message that are sent at a time, as one fragment. */
const fragmentLength = 64 * 1024

/** @param stallTimeoutMs time for which the connection may not take a fragment; then it is closed */
export function createSender(socket: WebSocket, stallTimeoutMs: number): Send {
  const sending = new Mutex()

  function sendFragment(bytes: Buffer, fin: boolean): Promise<void> {
    return new Promise((resolve) => {
      let isTaken = false
      // After the sockets were written to: a turn of the event loop may have been late.
      const check = () => {
        if (!isTaken) socket.terminate()
      }
      const timer = setTimeout(() => setImmediate(check), stallTimeoutMs)
      // An error means that the connection is closed, which ends the session.
      socket.send(bytes, { binary: false, fin }, () => {
        isTaken = true
        clearTimeout(timer)
        resolve()
      })
    })
  }

  return (message) =>
    sending.runExclusive(async () => {
      // Small parts share a fragment. The last one says so, and it is known when the parts have ended.
      let held: Buffer[] = []
      let length = 0
      for await (const part of typeof message === 'string' ? [message] : message) {
        // Before each part, also an empty one: leaving the loop ends what makes the parts.
        if (socket.readyState !== socket.OPEN) return
        for (const bytes of fragmentsOf(part)) {
          if (length + bytes.length > fragmentLength) {
            await sendFragment(joined(held), false)
            held = []
            length = 0
          }
          held.push(bytes)
          length += bytes.length
        }
      }
      if (length > 0) await sendFragment(joined(held), true)
    })
}

/** Parts as one buffer; a part alone is not copied. */
const joined = (parts: readonly Buffer[]): Buffer =>
  parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)

function fragmentsOf(part: string | Buffer): Buffer[] {
  const bytes = typeof part === 'string' ? Buffer.from(part) : part
  const fragments: Buffer[] = []
  for (let start = 0; start < bytes.length; start += fragmentLength)
    fragments.push(bytes.subarray(start, start + fragmentLength))
  return fragments
}
