/**
 * The logger that the Ratatosk packages write to. A pino logger implements it.
 *
 * @example
 * import { pino } from 'pino'
 * const log: Log = pino()
 * log.info({ height: 7 }, 'Block committed')
 */
export interface Log {
  /** Logs an expected event. `fields` are structured data, `message` a constant text. */
  info(fields: object, message: string): void
  /** Logs a problem that the process handles. */
  warn(fields: object, message: string): void
  /** Logs a failure that needs an operator. */
  error(fields: object, message: string): void
}
