import type { FaultSource } from './faults/faults.js'
import { type OgmiosVersion, ogmiosVersions } from './versions.js'
import type { ChainView } from './view/chain-view.js'

/** Options of the `apis` plugin. */
export interface ApisOptions {
  /** The chain to serve. Its owner closes it, after the server. */
  readonly chain: ChainView
  /** Prefix of all paths. Default none. */
  readonly prefix?: string
  /** Path of each API below the prefix; `false` disables the API. */
  readonly paths?: {
    /** Default `/blockfrost/api/v0`. */
    readonly blockfrost?: string | false
    /** Blockfrost for clients of Yaci, which expect 202. Default `/yaci/api/v1`, if Blockfrost is served. */
    readonly yaci?: string | false
    /** Default `/kupo`. */
    readonly kupo?: string | false
    /** Ogmios by WebSocket and by POST. Default `/ogmios`. */
    readonly ogmios?: string | false
  }
  /** The version of the Ogmios API. Default 6. */
  readonly ogmiosVersion?: OgmiosVersion
  /**
   * Whether Ogmios's responses have the fields of JSON-RPC 2.0 only, without `method`, as strict clients
   * want. Default false.
   */
  readonly ogmiosStrictRpc?: boolean
  /** The most outputs that a response of Blockfrost may add up; more are refused. Default 10,000. */
  readonly maxOutputs?: number
  /** The most WebSockets of the server, over all chains; more are answered 503. Default 2,500. */
  readonly maxWebSockets?: number
  /**
   * Time for which the client of a WebSocket may take nothing of a message or not answer a ping, in
   * milliseconds; then it is closed. For pings, that of the first registration on a server holds. Default
   * 30,000.
   */
  readonly stallTimeoutMs?: number
  /** Makes requests fail, for tests of clients. Default none. */
  readonly faults?: FaultSource
}

/** Rule of an option, and what it expects. */
type Rule = readonly [isRight: (value: unknown) => boolean, expected: string]

const plugin = '@ratatosk/chain-apis'

const isAtLeast1 = (value: unknown): boolean => typeof value === 'number' && value >= 1
const atLeast1: Rule = [isAtLeast1, 'a number of at least 1']
/** Node makes longer times one millisecond. */
const longestTimer = 2 ** 31 - 1
const timer: Rule = [
  (value) => isAtLeast1(value) && (value as number) <= longestTimer,
  `a number from 1 to ${longestTimer}`,
]

const rules: Readonly<Record<keyof Omit<ApisOptions, 'chain'>, Rule>> = {
  prefix: [(value) => typeof value === 'string', 'a text'],
  paths: [isObject, 'an object'],
  ogmiosVersion: [(value) => ogmiosVersions.some((each) => each === value), ogmiosVersions.join(' or ')],
  ogmiosStrictRpc: [(value) => typeof value === 'boolean', 'true or false'],
  maxOutputs: atLeast1,
  maxWebSockets: atLeast1,
  stallTimeoutMs: timer,
  faults: [(value) => isObject(value) && typeof value.take === 'function', 'an object with the method take'],
}

const path: Rule = [
  (value) => value === false || (typeof value === 'string' && /^(?:\/.*)?$/.test(value)),
  'a path that begins with a slash, or false',
]
const paths: Readonly<Record<keyof NonNullable<ApisOptions['paths']>, Rule>> = {
  blockfrost: path,
  yaci: path,
  kupo: path,
  ogmios: path,
}

/** Options that `register` itself takes. */
const ofFastify = ['logLevel', 'logSerializers']

/** The members of a {@link ChainView} and their types. */
export const chainMembers = {
  parameters: 'object',
  slots: 'object',
  networkMagic: 'number',
  networkId: 'number',
  genesisHash: 'string',
  maxBlockSize: 'number',
  securityParameter: 'number',
  currentSlot: 'function',
  tip: 'function',
  block: 'function',
  blockAfter: 'function',
  blockUntil: 'function',
  indexedSlot: 'function',
  version: 'function',
  blockTransactions: 'function',
  transaction: 'function',
  transactions: 'function',
  mempool: 'function',
  outputs: 'function',
  outputPages: 'function',
  history: 'function',
  totals: 'function',
  labelled: 'function',
  labels: 'function',
  assets: 'function',
  asset: 'function',
  mints: 'function',
  knowsAddress: 'function',
  pendingOutputs: 'function',
  datums: 'function',
  script: 'function',
  scripts: 'function',
  redeemers: 'function',
  stakeDeposit: 'function',
  registrations: 'function',
  withdrawals: 'function',
  submit: 'function',
  evaluate: 'function',
  subscribe: 'function',
} as const satisfies Readonly<Record<keyof ChainView, string>>

/**
 * Checks the options of the plugin.
 *
 * @throws {TypeError} names the option that is wrong or does not exist, or all that the chain lacks
 */
export function checkOptions(options: ApisOptions): void {
  const { chain, ...others } = options
  checkChain(chain)
  checkAll(plugin, rules, others, ['chain', ...Object.keys(rules)])
  checkAll(`${plugin}: paths`, paths, options.paths ?? {}, Object.keys(paths))
}

function checkChain(chain: unknown): void {
  const lead = `${plugin}: chain must satisfy ChainView`
  if (!isObject(chain)) throw new TypeError(lead)
  const lacking = Object.entries(chainMembers).filter(([name, type]) => typeof chain[name] !== type)
  if (lacking.length === 0) return
  const names = lacking.map(([name, type]) => (type === 'function' ? `${name}()` : name))
  throw new TypeError(`${lead}; it lacks ${names.join(', ')}`)
}

function checkAll(
  of: string,
  known: Readonly<Record<string, Rule>>,
  options: object,
  names: readonly string[],
): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || ofFastify.includes(name)) continue
    const [isRight, expected] = Object.hasOwn(known, name) ? (known[name] as Rule) : []
    if (isRight === undefined)
      throw new TypeError(`${of}: there is no option ${name}; its options are ${names.join(', ')}`)
    if (!isRight(value)) throw new TypeError(`${of}: ${name} must be ${expected}, not ${String(value)}`)
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
