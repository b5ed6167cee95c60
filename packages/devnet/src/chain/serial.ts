import { DevnetError } from '../errors.js'

/** Runs one piece of work after another, in the order of asking. */
export interface Serial {
  /** @throws {DevnetError} (rejects) `DEVNET_CLOSED` */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Takes no more work and waits for what there is. */
  close(): Promise<void>
}

export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve()
  let closed = false
  return {
    run(work) {
      if (closed) return Promise.reject(new DevnetError('DEVNET_CLOSED', 'The devnet is closed'))
      const turn = last.then(work)
      last = turn.catch(() => {})
      return turn
    },
    async close() {
      closed = true
      await last
    },
  }
}
