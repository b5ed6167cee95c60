import type { Log } from '@ratatosk/ports'

/** A log to the console if `RATATOSK_LOG` is set, to find out why a test fails; otherwise undefined. */
export function logOf(name: string): Log | undefined {
  if (process.env.RATATOSK_LOG === undefined) return undefined
  return {
    info: (_, message) => console.log(name, message),
    warn: (fields, message) => console.log(name, message, fields),
    error: (fields, message) => console.log(name, message, fields),
  }
}
