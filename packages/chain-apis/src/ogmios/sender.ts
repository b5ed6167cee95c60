import type { WebSocket } from '@fastify/websocket'
import { Mutex } from 'async-mutex'
import type { JsonPart } from '../json.js'

/**
 * Sends a message, given in parts of which the last one is in memory, after the messages before it. Resolves
 * when the connection has taken it, so that a client that does not read gets no further responses.
 */
export type Send = (...parts: readonly JsonPart[]) => Promise<void>

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

  /** @returns false if the connection is closed */
  async function sendText(text: string | Buffer, isLast: boolean): Promise<boolean> {
    const fragments = fragmentsOf(text)
    for (const [index, bytes] of fragments.entries()) {
      if (socket.readyState !== socket.OPEN) return false
      await sendFragment(bytes, isLast && index === fragments.length - 1)
    }
    return socket.readyState === socket.OPEN
  }

  return (...parts) =>
    sending.runExclusive(async () => {
      for (const [index, part] of parts.entries()) {
        if (typeof part === 'string' || Buffer.isBuffer(part)) {
          if (!(await sendText(part, index === parts.length - 1))) return
        } else {
          for await (const text of part) if (!(await sendText(text, false))) return
        }
      }
    })
}

function fragmentsOf(part: string | Buffer): Buffer[] {
  const bytes = typeof part === 'string' ? Buffer.from(part) : part
  const fragments: Buffer[] = []
  for (let start = 0; start < bytes.length; start += fragmentLength)
    fragments.push(bytes.subarray(start, start + fragmentLength))
  return fragments
}
