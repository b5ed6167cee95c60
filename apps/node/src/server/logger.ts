import { createRequire } from 'node:module'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type pinoPretty from 'pino-pretty'
import type { Settings } from '../settings/schema.js'
import { helpOf } from './help.js'

/** LOG_FORMAT; by default, readable lines in a terminal and JSON elsewhere. */
export function logFormat(settings: Pick<Settings, 'LOG_FORMAT'>): 'pretty' | 'json' {
  return settings.LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json')
}

/** Adds where the code of a line, or of its error, is explained. */
function withHelp(line: Record<string, unknown>): Record<string, unknown> {
  const help = helpOf(line.err) ?? helpOf(line)
  return help === undefined ? line : { ...line, help }
}

/** The content of the node's log lines, wherever they are written. */
export function logOptions({ LOG_LEVEL }: Pick<Settings, 'LOG_LEVEL'>): LoggerOptions {
  return { level: LOG_LEVEL, formatters: { log: withHelp } }
}

/** Creates the node's logger. It writes to standard output synchronously, so that a crash loses no line. */
export function createLogger(settings: Pick<Settings, 'LOG_LEVEL' | 'LOG_FORMAT'>): Logger {
  const options = logOptions(settings)
  if (logFormat(settings) === 'json') return pino(options, standardOutput())
  // Loaded only for a terminal.
  const pretty: typeof pinoPretty = createRequire(import.meta.url)('pino-pretty')
  return pino(
    options,
    pretty({
      destination: 1,
      sync: true,
      colorize: process.stdout.isTTY && !process.env.NO_COLOR,
      ignore: 'pid,hostname',
      translateTime: 'SYS:HH:MM:ss.l',
    }),
  )
}

/** Once a terminal is closed, lines are lost, as pino loses those to a pipe without a reader. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true })
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EIO') throw error
    output.write = () => true
  })
  return output
}
