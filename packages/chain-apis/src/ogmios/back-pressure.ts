import type { WebSocket } from '@fastify/websocket'

/** Bytes of requests of one connection that wait for their responses; beyond it, no more are read. */
const maxPending = 1024 * 1024
/** The size of a waiting request beside its text, in bytes. */
const requestOverhead = 512

/**
 * Gives each message to a function, without waiting for the one before. Pauses the socket while as much as
 * is allowed waits, so that a client that sends faster than it is answered waits in turn and loses nothing.
 *
 * @param answer resolves when the message is answered, and never rejects
 */
export function receive(socket: WebSocket, answer: (text: string) => Promise<void>): void {
  let pending = 0
  /** Messages that were read together with the one on which the socket was paused. */
  let held: string[] = []
  let closeNow: (() => void) | undefined

  function take(text: string): void {
    if (socket.readyState !== socket.OPEN) return
    const size = text.length + requestOverhead
    if (held.length > 0 || (pending > 0 && pending + size > maxPending)) {
      held.push(text)
      socket.pause()
      return
    }
    pending += size
    void answer(text).finally(() => {
      pending -= size
      if (held.length > 0 && pending <= maxPending / 2) goOn()
      if (pending === 0) closeNow?.()
    })
  }

  function goOn(): void {
    const texts = held
    held = []
    for (const text of texts) take(text)
    if (held.length === 0) socket.resume()
  }

  socket.on('message', (message) => take(String(message)))
  const close = socket.close.bind(socket)
  // `ws` reads nothing behind a message that is too long. The requests before it still get their answers.
  socket.close = (code, reason) => {
    closeNow = () => close(code, reason)
    if (code !== 1009 || pending === 0) closeNow()
  }
}
