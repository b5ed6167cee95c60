import type { WebSocket } from '@fastify/websocket'
import { Mutex, Semaphore } from 'async-mutex'

/** The most submissions of one connection that wait for their results at a time. */
const maxSubmissions = 64

/**
 * The mini-protocols in which a request may wait for the chain. It delays no other protocol. A transaction
 * may wait for one that is submitted behind it, so submissions begin while others wait.
 */
const waitingProtocols: readonly { readonly atATime: number; readonly methods: readonly string[] }[] = [
  { atATime: maxSubmissions, methods: ['submitTransaction', 'evaluateTransaction'] },
  { atATime: 1, methods: ['findIntersection', 'nextBlock'] },
  {
    atATime: 1,
    methods: ['acquireMempool', 'nextTransaction', 'hasTransaction', 'sizeOfMempool', 'releaseMempool'],
  },
]

/** Methods whose requests may wait for the chain. */
export const waitingMethods: ReadonlySet<string> = new Set(waitingProtocols.flatMap(({ methods }) => methods))

/** Requests of one connection that are answered in their order. */
export interface Lane {
  /**
   * Runs `answer` after those before it, and then `send` with the result. Submissions run together; their
   * results are sent in order.
   */
  run<Message>(
    method: string,
    answer: () => Promise<Message>,
    send: (message: Message) => Promise<void>,
  ): Promise<void>
}

/** The lane of each method: responses come in the order of the requests of a lane. */
export function createLanes(): (method: string) => Lane {
  const prompt = createLane(1)
  const waiting = new Map(
    waitingProtocols.flatMap(({ atATime, methods }) => {
      const lane = createLane(atATime)
      return methods.map((method) => [method, lane])
    }),
  )
  return (method) => waiting.get(method) ?? prompt
}

function createLane(atATime: number): Lane {
  const begin = new Semaphore(atATime)
  const order = new Mutex()
  return {
    run(method, answer, send) {
      // An evaluation sees what the submissions before it have done, and nothing of those behind it.
      const weight = method === 'submitTransaction' ? 1 : atATime
      return begin.runExclusive(async () => {
        const message = answer()
        await Promise.all([message, order.runExclusive(async () => send(await message))])
      }, weight)
    },
  }
}

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
