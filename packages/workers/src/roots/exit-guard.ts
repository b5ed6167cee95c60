/** What main thread and roots' thread share: 1 while the one waits for the other. */
export type Busy = Int32Array<SharedArrayBuffer>

/**
 * Lets the process end only when the thread is at rest. `process.exit()`, also that of an uncaught error, stops threads wherever
 * they are; one that is stopped within a transaction of LMDB never ends, and the process with it.
 */
export interface ExitGuard {
  readonly busy: Busy
  /** Before something is asked of the thread. */
  asking(): void
  /** When the thread has ended. */
  release(): void
}

/** More than any transaction takes; after it the process ends as well as it can. */
const patienceMs = 60_000

export function createExitGuard(): ExitGuard {
  const busy = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const wait = () => Atomics.wait(busy, 0, 1, patienceMs)
  process.once('exit', wait)
  return {
    busy,
    asking: () => Atomics.store(busy, 0, 1),
    release: () => process.off('exit', wait),
  }
}

/** On the thread: what was asked is done. */
export function atRest(busy: Busy): void {
  Atomics.store(busy, 0, 0)
  Atomics.notify(busy, 0)
}
