import type { FaultSource } from './faults/faults.js'
import {
  apiPath,
  type FieldRule,
  faultOfFields,
  isObject,
  longestTimer,
  oneOf,
  optional,
  optionsOfFastify,
  wholeNumber,
  withMethods,
} from './field-rules.js'
import type { ChainView } from './view/chain-view.js'

/** The major versions of Ogmios whose API can be served. */
export const ogmiosVersions = ['6', '7'] as const

export type OgmiosVersion = (typeof ogmiosVersions)[number]

/**
 * Options for the router of a server of these APIs, of which a plugin has no choice. Some clients join a base
 * URL that ends in a slash to a path that starts with one. An address in the place of a shorter id gets the
 * answer of its route: Fastify limits parts of a path to 100 characters.
 *
 * @example
 * ```ts
 * const server = fastify({ routerOptions })
 * ```
 */
export const routerOptions = { ignoreDuplicateSlashes: true, maxParamLength: 250 } as const

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

const plugin = '@ratatosk/chain-apis'

const atLeast1 = optional([(value) => typeof value === 'number' && value >= 1, 'a number of at least 1'])

const paths: Readonly<Record<keyof NonNullable<ApisOptions['paths']>, FieldRule>> = {
  blockfrost: apiPath,
  yaci: apiPath,
  kupo: apiPath,
  ogmios: apiPath,
}

/** Rules of options that a plugin over this one may have, too. */
export const apisRules = {
  prefix: optional([(value) => typeof value === 'string', 'a text']),
  paths: optional([isObject, 'an object']),
  ogmiosVersion: optional(oneOf(...ogmiosVersions)),
  ogmiosStrictRpc: optional([(value) => typeof value === 'boolean', 'true or false']),
} as const satisfies Partial<Record<keyof ApisOptions, FieldRule>>

const rules: Readonly<Record<keyof ApisOptions, FieldRule>> = {
  // It has a check of its own, which names what it lacks.
  chain: [() => true, 'a ChainView'],
  ...apisRules,
  maxOutputs: atLeast1,
  maxWebSockets: atLeast1,
  stallTimeoutMs: optional(wholeNumber(1, longestTimer)),
  faults: optional(withMethods('take')),
}

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
  const fault =
    faultOfChain(options.chain) ??
    faultOfFields(plugin, 'option', rules, options, optionsOfFastify) ??
    faultOfFields(`${plugin}: paths`, 'option', paths, options.paths ?? {})
  if (fault !== undefined) throw new TypeError(fault)
}

function faultOfChain(chain: unknown): string | undefined {
  const lead = `${plugin}: chain must satisfy ChainView`
  if (!isObject(chain)) return lead
  const lacking = Object.entries(chainMembers).filter(([name, type]) => typeof chain[name] !== type)
  if (lacking.length === 0) return undefined
  const names = lacking.map(([name, type]) => (type === 'function' ? `${name}()` : name))
  return `${lead}; it lacks ${names.join(', ')}`
}
