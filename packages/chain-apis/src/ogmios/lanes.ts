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
