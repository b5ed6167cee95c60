/** How a client speaks to a node. */
export interface ClientOptions {
  /** Time that one attempt may take, its body included, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number
  /** How often a request that is safe to repeat is sent again. Default: 3. */
  readonly retries?: number
  /** Bytes of an answer; a longer one is an {@link InvalidAnswerError}. Default: 16 MiB. */
  readonly maxAnswerBytes?: number
  /** The `OPERATOR_TOKEN` of the node, for operator endpoints. Never in a web page. */
  readonly operatorToken?: string
  /** The `FAUCET_TOKEN` of the node, for claims. Never in a web page. */
  readonly faucetToken?: string
  /**
   * Checks the JSON of every 2xx, such as `faultOf` of `@ratatosk/client/answers`: what it returns is why the
   * answer is an {@link InvalidAnswerError}. Default: no check.
   */
  readonly checkAnswer?: (operation: string, answer: unknown) => string | undefined
  /** Receives each failure after which a request is sent again, in `waitMs` milliseconds. */
  readonly onRetry?: (error: Error, waitMs: number) => void
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch
}

/** How one request is made. */
export interface NodeRequestOptions {
  /** Ends the request; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Time that one attempt may take, in milliseconds. Default: the client's. */
  readonly timeoutMs?: number | undefined
  /** How often it is sent again if that is safe. Default: the client's. */
  readonly retries?: number | undefined
  /** Bytes of an answer. Default: the client's. */
  readonly maxAnswerBytes?: number | undefined
}

/**
 * How far a transaction has come: in the mempool ledger, in the state queue, past its maturity window, in the
 * confirmed state.
 */
export type AwaitedFinality = 'accepted' | 'committed' | 'mature' | 'merged'

/** How `awaitTx` waits. */
export interface AwaitTxOptions {
  /** The finality to wait for. Default: `accepted`. */
  readonly finality?: AwaitedFinality
  /** Id that `submit` answered: an older rejection of the same transaction then does not count. */
  readonly submissionId?: string
  /** Ends the wait; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Longest wait in milliseconds. Default: none. */
  readonly timeoutMs?: number
  /** Poll interval where the node serves no events, in milliseconds. Default: 2,000. */
  readonly pollMs?: number
}

/** The values of an option. */
interface OptionRule {
  /** As an error names it. */
  readonly kind: string
  /** Whether there is no default. */
  readonly isRequired?: boolean
  takes(value: unknown): boolean
}

export type Rules<Options> = Readonly<Record<keyof Options, OptionRule>>

/** Timers of a longer time end at once. */
const longestMs = 2 ** 31 - 1

export const text: OptionRule = { kind: 'a string', takes: (value) => typeof value === 'string' }
const call: OptionRule = { kind: 'a function', takes: (value) => typeof value === 'function' }
const count: OptionRule = {
  kind: 'a number from 0',
  takes: (value) => typeof value === 'number' && value >= 0,
}
const time: OptionRule = {
  kind: `a number of milliseconds from 0 to ${longestMs}`,
  takes: (value) => count.takes(value) && Number(value) <= longestMs,
}
const signal: OptionRule = {
  kind: 'an AbortSignal',
  takes: (value) => typeof (value as AbortSignal | null)?.addEventListener === 'function',
}

/** From the least to the most. */
export const finalities: readonly AwaitedFinality[] = ['accepted', 'committed', 'mature', 'merged']
const finality: OptionRule = {
  kind: `one of ${finalities.join(', ')}`,
  takes: (value) => finalities.some((each) => each === value),
}

export const clientOptions: Rules<ClientOptions> = {
  timeoutMs: time,
  retries: count,
  maxAnswerBytes: count,
  operatorToken: text,
  faucetToken: text,
  checkAnswer: call,
  onRetry: call,
  fetch: call,
}
export const requestOptions: Rules<NodeRequestOptions> = {
  signal,
  timeoutMs: time,
  retries: count,
  maxAnswerBytes: count,
}
export const awaitOptions: Rules<AwaitTxOptions> = {
  finality,
  submissionId: text,
  signal,
  timeoutMs: time,
  pollMs: time,
}

/**
 * Refuses options that do not exist, which would be ignored, and values that they do not take.
 * @param of what has the options
 * @throws TypeError
 */
export function checkOptions<Options extends object>(
  of: string,
  options: Options,
  rules: Rules<Options>,
): void {
  checkNames(of, 'option', options, rules)
  const values = options as object as Readonly<Record<string, unknown>>
  for (const [name, { kind, isRequired = false, takes }] of Object.entries<OptionRule>(rules)) {
    const value = values[name]
    if (value === undefined ? isRequired : !takes(value))
      throw new TypeError(`${of}: ${name} must be ${kind}`)
  }
}

/**
 * Refuses fields that do not exist, which would be ignored.
 * @param of what has the fields
 * @param noun what each of them is
 * @throws TypeError
 */
export function checkNames(of: string, noun: 'option' | 'parameter', given: unknown, known: object): void {
  const names = `its ${noun}s are ${Object.keys(known).join(', ')}`
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`${of}: the ${noun}s must be an object; ${names}`)
  for (const name of Object.keys(given))
    if (!Object.hasOwn(known, name)) throw new TypeError(`${of}: there is no ${noun} ${name}; ${names}`)
}
