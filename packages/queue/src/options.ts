import { QueueError } from './errors.js'

/** Refuses options that JavaScript misspells. @throws QueueError `QUEUE_CONFIGURATION` */
export function requireKnown(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw wrongOption(`there is no option ${unknown}; its options are ${known.join(', ')}`)
}

export const wrongOption = (message: string): QueueError => new QueueError('QUEUE_CONFIGURATION', message)
