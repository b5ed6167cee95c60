import { diskFullState } from './driver-errors.js'

/** Knows whether the disk of a database is full. */
export interface DiskWatch {
  /** Takes note of a failure of a statement. */
  failed(error: unknown): void
  /**
   * After a write that failed because the disk was full, tries another one.
   *
   * @param run runs a statement in a transaction of its own
   * @throws what `run` fails with while the disk is full
   */
  check(run: (text: string) => Promise<unknown>): Promise<void>
}

/** Needs pages that the database does not have, and leaves nothing behind. */
const write = `
  CREATE TEMP TABLE ratatosk_disk_check ON COMMIT DROP AS
  SELECT md5(number::text) AS filling FROM generate_series(1, 4096) AS number`

export function watchDisk(): DiskWatch {
  let isFull = false
  return {
    failed(error) {
      isFull ||= isDiskFull(error)
    },
    async check(run) {
      if (!isFull) return
      try {
        await run(write)
      } catch (error) {
        const { retryable } = (error ?? {}) as { readonly retryable?: unknown }
        if (isDiskFull(error) || retryable === true) throw error
        // Such as a missing privilege: the next write will show.
      }
      isFull = false
    },
  }
}

function isDiskFull(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, sqlState, cause } = error as Readonly<Record<string, unknown>>
  return [code, sqlState].includes(diskFullState) || code === 'ENOSPC' || isDiskFull(cause)
}
