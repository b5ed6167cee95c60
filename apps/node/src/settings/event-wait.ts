import type { Settings } from './schema.js'

/** Milliseconds between the end of a block and the first deposit that it may not know. */
export const eventMarginMs = 5000
const usualWaitMs = 15_000

/** EVENT_WAIT_MS, or its default. */
export const eventWaitOf = ({
  EVENT_WAIT_MS,
  BLOCK_VALIDITY_MS,
}: Pick<Settings, 'EVENT_WAIT_MS' | 'BLOCK_VALIDITY_MS'>): number =>
  EVENT_WAIT_MS ?? Math.max(usualWaitMs, BLOCK_VALIDITY_MS + eventMarginMs)
