// What transactions of the serial part are validated by.
import { parameters } from '../parameters.mjs'

export const context = { parameters, networkId: 0, slot: 0n }

export const conditions = {
  context,
  provisional: { outputs: new Map(), spenders: new Map() },
  maxAttempts: 5,
  verifyFew: () => undefined,
}

/** As if the queue had delivered them. */
export const taken = (candidates) =>
  candidates.map((examined) => ({ examined, delivery: { id: '', attempt: 1 } }))

export function* batchesOf(candidates, size) {
  for (let start = 0; start < candidates.length; start += size) yield candidates.slice(start, start + size)
}

/** Throws unless all were accepted. */
export function requireAccepted(validated, count) {
  if (validated?.accepted.length !== count) throw new Error('a transfer of the benchmark was not accepted')
}
