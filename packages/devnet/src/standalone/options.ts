import { parseArgs } from 'node:util'

export interface StandaloneOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Where the chain is kept; `undefined`: in memory. */
  readonly dataDirectory: string | undefined
  readonly blockEveryMs: number
  readonly slotLengthMs: number
}

export const usage = `Usage: devnet [options]

  --host <address>       where to listen                        (127.0.0.1)
  --port <number>        0 takes a free one                     (1337)
  --data-dir <folder>    keep the chain there; without it, the chain ends with the process
  --block-every <ms>     how often a block is made; 0: by hand  (1000)
  --slot-length <ms>     how long a slot lasts                  (1000)
  --help                 this text
`

/**
 * Reads the command line.
 *
 * @returns undefined where help is asked for
 * @throws TypeError on what cannot be meant
 */
export function readOptions(args: readonly string[]): StandaloneOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '1337' },
      'data-dir': { type: 'string' },
      'block-every': { type: 'string', default: '1000' },
      'slot-length': { type: 'string', default: '1000' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help === true) return undefined
  return {
    host: String(values.host),
    port: whole('--port', values.port, 0, 65_535),
    dataDirectory: values['data-dir'],
    blockEveryMs: whole('--block-every', values['block-every'], 0, 86_400_000),
    slotLengthMs: whole('--slot-length', values['slot-length'], 1, 86_400_000),
  }
}

function whole(name: string, text: string | undefined, least: number, most: number): number {
  const value = text !== undefined && /^\d{1,8}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new TypeError(`${name} must be a whole number from ${least} to ${most}, not "${text}"`)
}
