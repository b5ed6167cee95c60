import { createRequire } from 'node:module'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type pinoPretty from 'pino-pretty'
import type { Settings } from '../settings/schema.js'

const page = 'https://github.com/ratatosk-l2/ratatosk/blob/main/docs/errors.md'

/** The first words of our codes. */
const ours = new Set(
  [
    'ADDRESS ARCHIVIST BLOCK BRIDGE CBOR CLI CLIENT CONTRACTS COOLDOWN DATABASE DEAD DEPLETED DEVNET',
    'DISABLED EFFECTS EVALUATE EVALUATOR EVENTS EXPLORER FAUCET FOLLOWER FRAUD HEALTH HTTP INDEX INTERNAL IP',
    'LAYER1 LEDGER NODE OPERATOR OPERATORS OVERLOADED PLUTUS PROOFS PROTOCOL PROVER QUEUE ROOTS SEQUENCER',
    'SETTLER STORE SUBMIT SUMMONS TRIE TX VALIDATION WALLET WATCHER WORKERS',
  ].flatMap((line) => line.split(' ')),
)

/** Codes that share one entry, under their first word. */
const grouped = [
  /^(?:BLOCK|CBOR|CLI|CLIENT|EFFECTS|FRAUD|PLUTUS)_/,
  /^ADDRESS_(?!(?:INVALID|NETWORK_MISMATCH|NO_PAYMENT_CREDENTIAL|SCRIPT)$)/,
  /^DEVNET_(?!CLOSED$)/,
  /^TRIE_(?!STORE_)/,
]

/** The entry of docs/errors.md for a caught value or a log line; undefined if it is not ours. */
export function helpOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('code' in value)) return undefined
  const { code } = value
  if (typeof code !== 'string' || !/^[A-Z0-9_]+$/.test(code)) return undefined
  const [word = ''] = code.split('_')
  return ours.has(word) ? `${page}#${grouped.some((pattern) => pattern.test(code)) ? word : code}` : undefined
}

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
