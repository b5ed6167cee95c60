/** Shared by the main thread and a thread that it asks: 1 while the main thread waits for an answer. */
export type Busy = Int32Array<SharedArrayBuffer>

/** Delays `process.exit()` until a thread is idle: one stopped in an LMDB transaction never ends. */
interface ExitGuard {
  readonly busy: Busy
  /** To be called before each request to the thread. */
  requested(): void
  /** To be called when the thread has ended. */
  release(): void
}

/** Longer than any transaction takes. After this time the process ends regardless. */
const maxWaitMs = 60_000

export function createExitGuard(): ExitGuard {
  const busy = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const wait = () => Atomics.wait(busy, 0, 1, maxWaitMs)
  process.once('exit', wait)
  return {
    busy,
    requested: () => Atomics.store(busy, 0, 1),
    release: () => process.off('exit', wait),
  }
}

/** To be called on the thread when a request is done. */
export function markIdle(busy: Busy): void {
  Atomics.store(busy, 0, 0)
  Atomics.notify(busy, 0)
}
