import type { Log } from '../validation/activity.js'

/** Shows what happens where RATATOSK_LOG asks for it: to find out why a test fails. */
export function logOf(name: string): Log | undefined {
  if (process.env.RATATOSK_LOG === undefined) return undefined
  return {
    info: (_, message) => console.log(name, message),
    warn: (fields, message) => console.log(name, message, fields),
    error: (fields, message) => console.log(name, message, fields),
  }
}
