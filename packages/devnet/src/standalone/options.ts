import { parseArgs } from 'node:util'
import { type OgmiosVersion, ogmiosVersions } from '@ratatosk/chain-apis'
import { type LedgerVersion, ledgerVersions } from '../genesis.js'

export interface StandaloneOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Names of this machine, by which other programs use the controls. */
  readonly allowedHosts: readonly string[]
  /** Folder for the chain; undefined: in memory. */
  readonly dataDirectory: string | undefined
  /** 0: no scheduled blocks. */
  readonly blockEveryMs: number
  readonly slotLengthMs: number
  readonly ogmiosVersion: OgmiosVersion
  /** Whether Ogmios's responses have no field `method`. */
  readonly ogmiosStrictRpc: boolean
  /** Undefined: that of the chain in the folder, or the newest. */
  readonly ledgerVersion: LedgerVersion | undefined
}

type Command =
  | { readonly kind: 'start'; readonly options: StandaloneOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  /** The arguments are invalid; `message` says which one and why. */
  | { readonly kind: 'invalid'; readonly message: string }

export const usage = `Usage: devnet [options]

Runs a Cardano layer 1 in this process and serves the Blockfrost, Kupo and Ogmios APIs.

  --host <address>     address to listen on                                 (default 127.0.0.1)
  --port <number>      port to listen on; 0: any free port                  (default 1337)
  --allow-host <name>  name by which programs elsewhere use the controls; may be repeated
  --data-dir <folder>  keep the chain in this folder                        (default in memory)
  --block-every <ms>   interval between blocks; 0: only on demand           (default 1000)
  --slot-length <ms>   length of a slot                                     (default 1000)
  --ledger <version>   ledger version of the chain: 10 or 11     (default the chain's, or 11)
  --ogmios <version>   version of the Ogmios API: 6 or 7                    (default 6)
  --strict-rpc         omit "method" from Ogmios's responses, as JSON-RPC 2.0 has no such field
  -h, --help           print this help
  -v, --version        print the version
`

/** Parses the command line, without the interpreter and the script. */
export function readCommand(args: readonly string[]): Command {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        host: { type: 'string', default: '127.0.0.1' },
        port: { type: 'string', default: '1337' },
        'allow-host': { type: 'string', multiple: true, default: [] },
        'data-dir': { type: 'string' },
        'block-every': { type: 'string', default: '1000' },
        'slot-length': { type: 'string', default: '1000' },
        ledger: { type: 'string' },
        ogmios: { type: 'string', default: '6' },
        'strict-rpc': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', short: 'v', default: false },
      },
    })
    if (values.help) return { kind: 'help' }
    if (values.version) return { kind: 'version' }
    const options = {
      host: values.host,
      port: wholeNumber('--port', values.port, 0, 65_535),
      allowedHosts: values['allow-host'],
      dataDirectory: values['data-dir'],
      blockEveryMs: wholeNumber('--block-every', values['block-every'], 0, 86_400_000),
      slotLengthMs: wholeNumber('--slot-length', values['slot-length'], 1, 86_400_000),
      ogmiosVersion: oneOf('--ogmios', values.ogmios, ogmiosVersions),
      ogmiosStrictRpc: values['strict-rpc'],
      ledgerVersion:
        values.ledger === undefined ? undefined : oneOf('--ledger', values.ledger, ledgerVersions),
    }
    return { kind: 'start', options }
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error
    // Node adds advice that does not apply to a command without positional arguments.
    const [message = ''] = error.message.split('. ')
    return { kind: 'invalid', message }
  }
}

function oneOf<T extends string>(name: string, text: string, values: readonly T[]): T {
  const value = values.find((each) => each === text)
  if (value !== undefined) return value
  throw new RangeError(`${name} must be ${values.join(' or ')}, not "${text}"`)
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = /^\d{1,8}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new RangeError(`${name} must be a whole number from ${least} to ${most}, not "${text}"`)
}
