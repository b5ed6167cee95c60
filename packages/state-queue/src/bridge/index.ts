import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  atMost,
  checkOptions,
  clientSignal,
  encoded,
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
import { readDraftBody, readPayoutBody, readSubmitBody } from './bodies.js'
import { shareByClient } from './clients.js'
import {
  ForeignTransactionError,
  NoBridgeError,
  NotOwedError,
  RefusedError,
  SpentError,
  tooMany,
  tooManyOfClient,
} from './errors.js'
import { invalidAddress, readDepositsPart, readNothing, readWithdrawalsPart } from './parameters.js'
import type { BridgePorts, Payer } from './ports.js'
import {
  bridgeSchema,
  bridgeSubmitSchema,
  depositsSchema,
  draftSchema,
  payoutSchema,
  withdrawalsSchema,
} from './schemas.js'

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
export { type BridgeErrorCode, isBridgeError } from './errors.js'
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
