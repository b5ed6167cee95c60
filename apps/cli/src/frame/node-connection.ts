import {
  type Client,
  ClientError,
  createClient,
  NetworkError,
  NotFoundError,
  NotServedError,
  TimeoutError,
  WrongTokenError,
} from '@ratatosk/client'
import { faultOf } from '@ratatosk/client/answers'
import { fileLimits } from '@ratatosk/node/regular-file'
import { type Shell, wholeNumber } from './command.js'
import { CommandError, UsageError } from './errors.js'
import { fileText } from './files.js'
import { servedBy } from './served-by.js'
import { visible } from './text.js'

const mostSeconds = 3600

/** Milliseconds until a repetition that is reported. */
const longWaitMs = 1000

/** Options of a command that asks a running node. */
export const nodeArguments = {
  url: { type: 'string', valueHint: 'url', description: 'The node. Default: from HOST and PORT' },
  timeout: {
    type: 'string',
    valueHint: 'seconds',
    default: '30',
    description: 'Time that one request may take',
  },
} as const

export const tokenArgument = {
  'token-file': {
    type: 'string',
    valueHint: 'path',
    description: 'File with OPERATOR_TOKEN. Default: from OPERATOR_TOKEN_FILE or OPERATOR_TOKEN',
  },
} as const

/** Options of a command that uses an operator endpoint. */
export const operatorArguments = {
  ...nodeArguments,
  // Layer 1 may need several blocks.
  timeout: { ...nodeArguments.timeout, default: '300' },
  ...tokenArgument,
} as const

export interface ConnectionOptions {
  readonly url?: string | undefined
  readonly timeout: string
  readonly 'token-file'?: string | undefined
}

/** Milliseconds that one request may take. @throws UsageError */
export const timeoutMsOf = ({ timeout }: Pick<ConnectionOptions, 'timeout'>): number =>
  wholeNumber('timeout', timeout, mostSeconds) * 1000

/** A client of the node that the options name. @throws UsageError or CommandError */
export async function connect(options: ConnectionOptions, shell: Shell): Promise<Client> {
  const { environment, writeError } = shell
  const url = baseUrlOf(options, shell)
  const timeoutMs = timeoutMsOf(options)
  const operatorToken = operatorTokenOf(options, shell)
  const faucetToken = secretOf('FAUCET_TOKEN', environment)
  return createClient(url, {
    timeoutMs,
    retries: 1,
    checkAnswer: faultOf,
    onRetry: (error, waitMs) => {
      if (waitMs >= longWaitMs || error instanceof TimeoutError)
        writeError(`${visible(error.message)}. Trying again.\n`)
    },
    ...(operatorToken && { operatorToken }),
    ...(faucetToken && { faucetToken }),
  })
}

/** The URL of the node that the options name. @throws UsageError */
export function baseUrlOf({ url: given }: ConnectionOptions, { environment }: Shell): string {
  const url = given ?? defaultUrl(environment)
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw new UsageError('--url must be a URL such as http://127.0.0.1:3000.')
  if (parsed.username !== '' || parsed.password !== '')
    throw new UsageError(
      '--url must not contain a user or password. The token of the node is OPERATOR_TOKEN.',
    )
  return url
}

/** OPERATOR_TOKEN, if there is one. @throws CommandError */
export const operatorTokenOf = (options: ConnectionOptions, { environment }: Shell): string | undefined =>
  secretOf('OPERATOR_TOKEN', environment, options['token-file'])

/** For a token that is missing as for a wrong one: an answer does not say which it is. */
export const tokenRemedy = '. OPERATOR_TOKEN_FILE, or --token-file, must hold the OPERATOR_TOKEN of this node'

const faucetTokenRemedy = '. FAUCET_TOKEN_FILE, or FAUCET_TOKEN, must hold the FAUCET_TOKEN of this node'

/** The remedy for an error of the client, as the end of its message; empty if the message says it. */
export function remedyOf(error: unknown): string {
  if (error instanceof WrongTokenError)
    return error.request === 'POST /faucet/claims' ? faucetTokenRemedy : tokenRemedy
  if (error instanceof NetworkError) return ' (--url; without it, HOST and PORT)'
  const root = error instanceof NotFoundError ? rootOf(error) : undefined
  if (root !== undefined) return `. The URL of a node has no path, unless a proxy adds one: try --url ${root}`
  if (!(error instanceof NotServedError)) return ''
  const roles = (servedBy[error.request] ?? []).map((role) => `"${role}"`)
  const either = roles.length === 0 ? '"all"' : roles.join(', ').replace(/, ([^,]*)$/, ' or $1')
  return (
    ". This node's role does not serve it, or its SERVE_… settings leave it out: " +
    `give the --url of a node of role ${either} of the same ledger`
  )
}

/** The URL of a node without its path, which may be why it is unknown what was asked for. */
function rootOf({ url, code }: NotFoundError): string | undefined {
  const { origin, pathname } = new URL(url)
  // A node has a code for what it serves.
  return pathname !== '/' && /^(?:DISABLED|HTTP_404)$/.test(code) ? origin : undefined
}

/** Where a node with this environment listens. */
function defaultUrl({ HOST, PORT }: Shell['environment']): string {
  const unspecified: Readonly<Record<string, string>> = {
    '': '127.0.0.1',
    '0.0.0.0': '127.0.0.1',
    '::': '::1',
  }
  const host = unspecified[HOST ?? ''] ?? HOST ?? ''
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT || '3000'}`
}

/** A secret of the environment or of a file, never of the command line. @throws CommandError */
function secretOf(
  name: string,
  environment: Shell['environment'],
  file = environment[`${name}_FILE`],
): string | undefined {
  if (!file) return environment[name]
  return fileText(file, name, 'CLI_SECRET_FILE', fileLimits.secret).trim()
}

/** How a node of any role names itself beside its readiness. */
interface Identity {
  readonly role?: string
  readonly network?: string
  readonly version?: string
  /** Key hash of the operator of a node that commits. */
  readonly operator?: string
}

/** Milliseconds for what a command can do without. */
const mostMs = 5000

const names = ['role', 'network', 'version', 'operator'] as const

/** Empty for a node that does not answer: what is asked of it next says so. @throws UsageError */
export async function identityOf(options: ConnectionOptions, shell: Shell): Promise<Identity> {
  const url = `${baseUrlOf(options, shell).replace(/\/+$/, '')}/health/ready`
  const signal = AbortSignal.timeout(Math.min(timeoutMsOf(options), mostMs))
  const answer = await fetch(url, { method: 'HEAD', signal }).catch(() => undefined)
  const entries = names.map((name) => [name, answer?.headers.get(`x-ratatosk-${name}`) ?? undefined])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** A transaction that may have been sent, although the command failed after it. */
interface Sent {
  /** Fields of the result that identify it. */
  readonly value: object
  /** Says what to do instead of sending it again: sentences without the last full stop. */
  readonly advice: string
}

/** The error of a command that has sent something: who sends it again would pay twice. */
export function afterSending(error: ClientError | CommandError, { value, advice }: Sent): CommandError {
  const reason = error instanceof ClientError ? `${visible(error.message)}${remedyOf(error)}` : error.message
  return new CommandError(error.code, `${reason.replace(/\.$/, '')}. ${advice}.`, value)
}

/** The answer of a wait for what was sent. @throws CommandError of {@link afterSending} */
export async function awaited<T>(answer: Promise<T>, sent: Sent): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ClientError || error instanceof CommandError) throw afterSending(error, sent)
    throw error
  }
}
