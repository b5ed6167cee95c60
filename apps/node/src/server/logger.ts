import { type Logger, pino } from 'pino'
import pinoPretty from 'pino-pretty'
import type { Settings } from '../settings/schema.js'

/** LOG_FORMAT; by default, readable lines in a terminal and JSON elsewhere. */
export function logFormat(settings: Pick<Settings, 'LOG_FORMAT'>): 'pretty' | 'json' {
  return settings.LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json')
}

/** Creates the node's logger. It writes to standard output synchronously, so that a crash loses no line. */
export function createLogger(settings: Pick<Settings, 'LOG_LEVEL' | 'LOG_FORMAT'>): Logger {
  const options = { level: settings.LOG_LEVEL }
  if (logFormat(settings) === 'json') return pino(options, pino.destination({ dest: 1, sync: true }))
  return pino(
    options,
    pinoPretty({
      destination: 1,
      sync: true,
      colorize: process.stdout.isTTY && !process.env.NO_COLOR,
      ignore: 'pid,hostname',
      translateTime: 'SYS:HH:MM:ss.l',
    }),
  )
}
