import { fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { faultOfNames } from '@ratatosk/chain-apis'
import { errorHandler, openScope, refuseForeignPages } from '@ratatosk/http'
import { encodeUtxo, isAddressError } from '@ratatosk/ledger'
import type {
  FastifyInstance,
  FastifyRequest,
  preValidationHookHandler,
  RouteShorthandOptions,
} from 'fastify'
import type { ChainOutput, ChainTip } from '../chain/types.js'
import { isDevnetError } from '../errors.js'
import {
  faultKinds,
  faultOperations,
  faultReason,
  faultTargets,
  type InjectedFault,
  maxDelayMs,
} from '../faults.js'
import { testWallets } from '../genesis.js'
import type { Devnet } from '../types.js'

/** Which devnet is controlled, and by whom. */
export interface ControlOptions {
  /** The devnet at the time of a request. A `DevnetError` that it throws is answered 409. */
  readonly devnet: () => Devnet
  /** The sequencer that commits to the devnet, if it may be stopped. It runs at first. */
  readonly sequencer?: {
    start(): Promise<void>
    /** Resolves when it has stopped; {@link start} starts it again. */
    close(): Promise<void>
  }
  /**
   * Host names or IP addresses, without port, by which clients may address the server, beside loopback; if
   * `route` has no hooks.
   */
  readonly allowedHosts?: readonly string[]
  /** Hooks and config of every route. */
  readonly route?: Pick<RouteShorthandOptions, 'onRequest' | 'config'>
}

/**
 * Error bodies of the control routes. Routes without own hooks get the guards of a node: a web page that the
 * developer happens to open must not change the chain.
 */
export function guardControls(
  fastify: FastifyInstance,
  { route, allowedHosts }: Pick<ControlOptions, 'route' | 'allowedHosts'>,
): void {
  openScope(fastify, '@ratatosk/devnet', {}, {})
  fastify.setErrorHandler((error, request, reply) =>
    isDevnetError(error)
      ? reply.code(409).send({ error: error.message, code: error.code })
      : errorHandler(error, request, reply),
  )
  if (route?.onRequest === undefined) fastify.addHook('onRequest', refuseForeignPages(allowedHosts))
}

/** Answers 400 before Fastify's validator, which removes what does not exist. */
const checked =
  (reasonOf: (request: FastifyRequest) => string | undefined): preValidationHookHandler =>
  (request, reply, done) => {
    const error = reasonOf(request)
    if (error === undefined) done()
    else reply.code(400).send({ error })
  }

const fieldsOf = (value: unknown): object => (typeof value === 'object' ? value : undefined) ?? {}

/** Refuses other fields of a body than these. */
export const onlyFields = (...names: readonly string[]) =>
  checked(({ body }) => faultOfNames('Invalid body', 'field', names, fieldsOf(body)))

/** Refuses other parameters of a query than these. */
const onlyParameters = (...names: readonly string[]) =>
  checked(({ query }) => faultOfNames('Invalid query', 'parameter', names, fieldsOf(query)))

const count = { type: 'integer', minimum: 1, maximum: 10_000 } as const

const tipSchema = {
  type: 'object',
  required: ['height', 'slot', 'hash'],
  properties: { height: { type: 'integer' }, slot: { type: 'integer' }, hash: { type: 'string' } },
} as const

const sequencerState = { enum: ['running', 'stopped'] } as const
type SequencerState = (typeof sequencerState.enum)[number]

const sequencerSchema = {
  type: 'object',
  required: ['sequencer'],
  additionalProperties: false,
  properties: { sequencer: sequencerState },
} as const

const networkSchema = {
  type: 'object',
  required: ['tip', 'currentSlot', 'startTime', 'slotLengthMs', 'networkMagic', 'mempool'],
  properties: {
    tip: tipSchema,
    currentSlot: { type: 'integer' },
    startTime: { type: 'integer' },
    slotLengthMs: { type: 'integer' },
    networkMagic: { type: 'integer' },
    mempool: { type: 'integer' },
    sequencer: sequencerState,
  },
} as const

const faultSchema = {
  type: 'object',
  required: ['kind'],
  additionalProperties: false,
  properties: {
    kind: { enum: faultKinds },
    target: { enum: faultTargets },
    operation: { enum: faultOperations },
    times: { type: 'integer', minimum: 1 },
    delayMs: { type: 'integer', minimum: 0, maximum: maxDelayMs },
    after: { type: 'integer', minimum: 0 },
  },
} as const

const walletsSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['account', 'address', 'lovelace'],
    properties: {
      account: { type: 'integer' },
      address: { type: 'string' },
      lovelace: { type: 'string', description: 'What its unspent outputs hold' },
    },
  },
} as const

const outputsQuery = {
  type: 'object',
  required: ['address'],
  additionalProperties: false,
  properties: { address: { type: 'string', minLength: 1, maxLength: 200 } },
} as const
const outputsSchema = {
  type: 'array',
  items: { type: 'string', description: 'CBOR in hex of reference and output, as `getUtxos` of CIP-30' },
} as const
/** Unspent outputs of an address that are answered, oldest first. */
const mostOutputs = 500

const rollBackSchema = {
  type: 'object',
  oneOf: [{ required: ['blocks'] }, { required: ['transaction'] }],
  additionalProperties: false,
  properties: {
    blocks: count,
    transaction: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    resubmit: { type: 'boolean' },
  },
} as const

/** Either `blocks` or `transaction`: undoes the block that contains it, and those after it. */
interface RollBackBody {
  readonly blocks?: number
  readonly transaction?: string
  readonly resubmit?: boolean
}

/** Controls that a real layer 1 lacks: blocks on demand, roll-backs, faults, and the end of the sequencer. */
export async function controlApi(fastify: FastifyInstance, options: ControlOptions): Promise<void> {
  const { devnet: open, sequencer, route = {} } = options
  guardControls(fastify, options)
  let state: SequencerState = 'running'

  fastify.get('/', { ...route, schema: { response: { 200: networkSchema } } }, async () => {
    const devnet = open()
    return {
      tip: tipJson(devnet.tip()),
      currentSlot: Number(devnet.currentSlot()),
      startTime: Number(devnet.slots.zeroTime),
      slotLengthMs: devnet.slots.slotLength,
      networkMagic: devnet.networkMagic,
      mempool: devnet.mempool().length,
      ...(sequencer && { sequencer: state }),
    }
  })

  fastify.get('/wallets', { ...route, schema: { response: { 200: walletsSchema } } }, async () => {
    const devnet = open()
    return testWallets.wallets.map(({ account, address }) => {
      const lovelace = devnet.utxos({ address }).reduce((sum, { output }) => sum + output.value.lovelace, 0n)
      return { account, address, lovelace: String(lovelace) }
    })
  })

  fastify.get<{ Querystring: { address: string } }>(
    '/outputs',
    {
      ...route,
      preValidation: onlyParameters('address'),
      schema: { querystring: outputsQuery, response: { 200: outputsSchema } },
    },
    async ({ query: { address } }, reply) => {
      try {
        return open().utxos({ address }).slice(0, mostOutputs).map(pairOf)
      } catch (error) {
        if (!isDecodeError(error) && !isAddressError(error)) throw error
        return reply.code(400).send({ error: `The address is none: ${error.message}` })
      }
    },
  )

  const body = { type: 'object', additionalProperties: false, properties: { count } }
  fastify.post<{ Body: { count?: number } | undefined }>(
    '/blocks',
    {
      ...route,
      preValidation: onlyFields('count'),
      schema: { body: { anyOf: [body, { type: 'null' }] }, response: { 200: tipSchema } },
    },
    async (request) => {
      const devnet = open()
      for (let left = request.body?.count ?? 1; left > 0; left--) await devnet.produceBlock()
      return tipJson(devnet.tip())
    },
  )

  fastify.post<{ Body: RollBackBody }>(
    '/roll-back',
    {
      ...route,
      preValidation: onlyFields('blocks', 'transaction', 'resubmit'),
      schema: { body: rollBackSchema, response: { 200: tipSchema } },
    },
    async ({ body: { blocks, transaction = '', resubmit = false } }) => {
      const devnet = open()
      const undo =
        blocks === undefined
          ? devnet.rollBackTo(transaction, { resubmit })
          : devnet.rollBack(blocks, { resubmit })
      return tipJson(await undo)
    },
  )

  if (sequencer !== undefined)
    fastify.post<{ Body: { sequencer: SequencerState } }>(
      '/sequencer',
      {
        ...route,
        preValidation: onlyFields('sequencer'),
        schema: { body: sequencerSchema, response: { 200: sequencerSchema } },
      },
      async ({ body }) => {
        state = body.sequencer
        await (state === 'running' ? sequencer.start() : sequencer.close())
        return { sequencer: state }
      },
    )

  fastify.post<{ Body: InjectedFault }>(
    '/faults',
    { ...route, preValidation: checked(({ body }) => faultReason(body)), schema: { body: faultSchema } },
    async (request, reply) => {
      open().faults.inject(request.body)
      return reply.code(204).send()
    },
  )
  fastify.delete('/faults', route, async (_request, reply) => {
    open().faults.clear()
    return reply.code(204).send()
  })
}

const pairOf = ({ transactionHash, index, output }: ChainOutput): string =>
  toHex(encodeUtxo({ reference: { transactionId: fromHex(transactionHash), index }, output }))

function tipJson({ height, slot, hash }: ChainTip) {
  return { height, slot: Number(slot), hash }
}
