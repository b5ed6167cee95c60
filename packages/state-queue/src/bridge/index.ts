import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  atMost,
  checkOptions,
  clientSignal,
  encoded,
  HttpError,
  hasCode,
  hasMethods,
  layer1ErrorHandler,
  noStore,
  type OperatorAccess,
  openScope,
  operatorAccessRules,
  operatorRoute,
  portOutcome,
  readBy,
} from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import {
  BridgeAnswer,
  BridgeSubmitAnswer,
  DepositsAnswer,
  DraftAnswer,
  PayoutAnswer,
  WithdrawalsAnswer,
} from './answers.js'
import type { BridgePorts, Payer } from './ports.js'
import {
  invalidAddress,
  readDepositsPart,
  readDraftBody,
  readNothing,
  readPayoutBody,
  readSubmitBody,
  readWithdrawalsPart,
} from './requests.js'
import {
  bridgeSchema,
  bridgeSubmitSchema,
  depositsSchema,
  draftSchema,
  payoutSchema,
  withdrawalsSchema,
} from './schemas.js'

/** Why there is no answer. */
export type BridgeErrorCode =
  | 'BRIDGE_INVALID_PARAMETER'
  | 'BRIDGE_ABSENT'
  | 'BRIDGE_REFUSED'
  | 'BRIDGE_FOREIGN_TRANSACTION'
  | 'BRIDGE_SPENT'
  | 'BRIDGE_NOT_OWED'
  | 'BRIDGE_BUSY'

/** 404: the deployment has no bridge. */
class NoBridgeError extends HttpError {
  constructor() {
    super(404, 'BRIDGE_ABSENT', 'This deployment has no bridge')
  }
}

/** 400: layer 1 would refuse the transaction, for this reason. */
class RefusedError extends HttpError {
  constructor(reason: string) {
    super(400, 'BRIDGE_REFUSED', reason)
  }
}

/** 400: the transaction neither pays to the bridge nor spends from it. */
class ForeignTransactionError extends HttpError {
  constructor() {
    super(400, 'BRIDGE_FOREIGN_TRANSACTION', 'Not a transaction of the bridge')
  }
}

/** 409: an input of the transaction is spent. */
class SpentError extends HttpError {
  constructor() {
    super(
      409,
      'BRIDGE_SPENT',
      'An input of the transaction is spent, or layer 1 does not know it: draft it again',
    )
  }
}

/** 409: nothing is paid now, for this reason. */
class NotOwedError extends HttpError {
  constructor(reason: string) {
    super(409, 'BRIDGE_NOT_OWED', reason)
  }
}

/** 503: too many requests of this kind wait. */
const tooMany = (): HttpError => busy('Too many requests to the bridge wait: retry later')

/** 503: as {@link tooMany}, of this client alone. */
const tooManyOfClient = (): HttpError =>
  busy('Too many requests of this client to the bridge wait: retry later')

/** A flood of requests must not become a flood of log lines. */
const busy = (message: string): HttpError =>
  new HttpError(503, 'BRIDGE_BUSY', message, { headers: { 'retry-after': '1' }, quiet: true })

/** Whether a caught value is one of this plugin's errors; works across copies of the package. */
export function isBridgeError(value: unknown): value is HttpError & { readonly code: BridgeErrorCode } {
  return hasCode(value, 'BRIDGE_')
}

/** The most requests of one client in progress; the others share what is left. */
const maxOfClient = 4

/**
 * Counts requests in progress by client, so that one client cannot take the turns of all others.
 * The answer is undefined if the client has too many.
 */
function shareByClient(): <T>(client: string, work: () => Promise<T>) => Promise<T | undefined> {
  const running = new Map<string, number>()
  return async (client, work) => {
    const count = running.get(client) ?? 0
    if (count >= maxOfClient) return undefined
    running.set(client, count + 1)
    try {
      return await work()
    } finally {
      const left = (running.get(client) ?? 1) - 1
      if (left > 0) running.set(client, left)
      else running.delete(client)
    }
  }
}

export {
  BridgeAnswer,
  BridgeSubmitAnswer,
  DepositAnswer,
  DepositsAnswer,
  DraftAnswer,
  PayoutAnswer,
  WithdrawalAnswer,
  WithdrawalsAnswer,
} from './answers.js'

export type * from './ports.js'
export {
  bridgeSchema,
  bridgeSubmitSchema,
  depositsSchema,
  draftSchema,
  payoutSchema,
  withdrawalsSchema,
} from './schemas.js'

/** Options of {@link bridge}: its ports, and who may reach `POST /payout`. */
export interface BridgeOptions extends RegisterOptions, OperatorAccess {
  /** Undefined: the deployment has no bridge, and every route says so. */
  ports: BridgePorts | undefined
}

const name = '@ratatosk/state-queue/bridge'
const rules = {
  ports: Type.Union([Type.Undefined(), Type.Object({})], {
    expected: 'an object of ports, or undefined for no bridge',
  }),
  ...operatorAccessRules,
}
const portRules = {
  'ports.bridge': hasMethods('read'),
  'ports.deposits': hasMethods('list'),
  'ports.withdrawals': hasMethods('list'),
  'ports.drafter': hasMethods('deposit', 'payout'),
  'ports.submitter': hasMethods('submit'),
  'ports.payer': Type.Optional(hasMethods('pay')),
}

const reason = { reason: Type.String({ minLength: 1 }) }
const draftOutcomes = { drafted: {}, refused: reason, 'not owed': reason, busy: {} }
const submitOutcomes = { sent: {}, foreign: {}, spent: {}, refused: reason, busy: {} }
const payOutcomes = { paid: {}, refused: reason }

/** Room for 500 outputs of a wallet, most of which are small. */
const draftLimit = 512 * 1024
/** Room for the largest transaction in hex. */
const submitLimit = 40 * 1024
const payoutLimit = 4_096

const plugin: FastifyPluginAsyncTypebox<BridgeOptions> = async (fastify, options) => {
  // Without this check, forgotten ports would mean that there is no bridge.
  openScope(fastify, name, rules, 'ports' in options ? options : { ...Object(options), ports: null })
  const { ports } = options
  fastify.setErrorHandler(layer1ErrorHandler)
  fastify.addHook('onRequest', noStore)
  if (ports === undefined) {
    serveAbsence(fastify)
    return
  }
  const known = Object.keys(portRules).map((rule) => [rule, Reflect.get(ports, rule.slice('ports.'.length))])
  const given = Object.entries(ports).map(([port, value]) => [`ports.${port}`, value])
  checkOptions(name, portRules, Object.fromEntries([...known, ...given]))
  serveReads(fastify, ports)
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    fastify.getDefaultJsonParser('remove', 'remove'),
  )
  serveDrafts(fastify, ports)
  if (ports.payer !== undefined) servePayout(fastify, ports.payer, options)
}

/**
 * Fastify plugin for money that comes to layer 2 and leaves it: `GET /bridge`, `/deposits`, `/withdrawals`;
 * `POST /bridge/draft`, `/bridge/submit` and, for operators, `/payout`.
 *
 * Encapsulated: it sets an error handler in its own scope, and one server can hold several instances, each
 * under its `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(bridge, { ports: undefined }) // 404: This deployment has no bridge
 * ```
 */
export const bridge = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default bridge

type Server = Parameters<typeof plugin>[0]

const paths = ['/bridge', '/deposits', '/withdrawals']
const writtenPaths = ['/bridge/draft', '/bridge/submit', '/payout']

function serveAbsence(fastify: Server): void {
  const absent = async () => {
    throw new NoBridgeError()
  }
  const schema = { hide: true }
  // Before a body is read.
  for (const path of paths) fastify.get(path, { schema, onRequest: absent }, absent)
  for (const path of writtenPaths) fastify.post(path, { schema, onRequest: absent }, absent)
}

function serveReads(fastify: Server, { bridge: reader, deposits, withdrawals }: BridgePorts): void {
  const listing = shareByClient()
  fastify.get(
    '/bridge',
    { schema: bridgeSchema, validatorCompiler: readBy(readNothing) },
    async ({ signal }) => encoded(BridgeAnswer, await reader.read(signal), 'bridge.read'),
  )

  fastify.get(
    '/deposits',
    { schema: depositsSchema, validatorCompiler: readBy(readDepositsPart) },
    async ({ query, signal }) => {
      const page = await deposits.list(query, signal)
      if (page === 'not an address') throw invalidAddress(query.address)
      const answer = encoded(DepositsAnswer, page, 'deposits.list')
      atMost('deposits.list', query.limit, answer.deposits)
      return answer
    },
  )

  fastify.get(
    '/withdrawals',
    { schema: withdrawalsSchema, validatorCompiler: readBy(readWithdrawalsPart) },
    async ({ query, signal, ip }) => {
      const listed = await listing(ip, async () => ({ page: await withdrawals.list(query, signal) }))
      if (listed === undefined) throw tooManyOfClient()
      const { page } = listed
      if (page === 'not an address') throw invalidAddress(query.address)
      if (page === 'busy') throw tooMany()
      const answer = encoded(WithdrawalsAnswer, page, 'withdrawals.list')
      atMost('withdrawals.list', query.limit, answer.withdrawals)
      return answer
    },
  )
}

function serveDrafts(fastify: Server, { drafter, submitter }: BridgePorts): void {
  const [drafting, submitting] = [shareByClient(), shareByClient()]
  fastify.post(
    '/bridge/draft',
    { schema: draftSchema, validatorCompiler: readBy(readDraftBody), bodyLimit: draftLimit },
    async ({ body, ip }, reply) => {
      const signal = clientSignal(reply)
      const outcome = await drafting(ip, async () =>
        body.kind === 'deposit'
          ? portOutcome('drafter.deposit', draftOutcomes, await drafter.deposit(body, signal))
          : portOutcome('drafter.payout', draftOutcomes, await drafter.payout(body, signal)),
      )
      if (outcome === undefined) throw tooManyOfClient()
      if (outcome.kind === 'refused') throw new RefusedError(outcome.reason)
      if (outcome.kind === 'not owed') throw new NotOwedError(outcome.reason)
      if (outcome.kind === 'busy') throw tooMany()
      const { transactionId: txHash, kind: _, ...draft } = outcome
      return encoded(DraftAnswer, { ...draft, txHash }, `drafter.${body.kind}`)
    },
  )

  fastify.post(
    '/bridge/submit',
    { schema: bridgeSubmitSchema, validatorCompiler: readBy(readSubmitBody), bodyLimit: submitLimit },
    async ({ body, ip }, reply) => {
      const outcome = await submitting(ip, async () =>
        portOutcome(
          'submitter.submit',
          submitOutcomes,
          await submitter.submit(body.transaction, clientSignal(reply)),
        ),
      )
      if (outcome === undefined) throw tooManyOfClient()
      if (outcome.kind === 'foreign') throw new ForeignTransactionError()
      if (outcome.kind === 'spent') throw new SpentError()
      if (outcome.kind === 'refused') throw new RefusedError(outcome.reason)
      if (outcome.kind === 'busy') throw tooMany()
      return encoded(BridgeSubmitAnswer, { txHash: outcome.transactionId }, 'submitter.submit')
    },
  )
}

function servePayout(fastify: Server, payer: Payer, access: OperatorAccess): void {
  fastify.post(
    '/payout',
    {
      ...operatorRoute(access),
      schema: payoutSchema,
      validatorCompiler: readBy(readPayoutBody),
      bodyLimit: payoutLimit,
    },
    async ({ body }, reply) => {
      const outcome = portOutcome('payer.pay', payOutcomes, await payer.pay(body, clientSignal(reply)))
      if (outcome.kind === 'refused') throw new NotOwedError(outcome.reason)
      const { transactionIds: txHashes, paid, remaining } = outcome
      return encoded(PayoutAnswer, { txHashes, paid, remaining }, 'payer.pay')
    },
  )
}
