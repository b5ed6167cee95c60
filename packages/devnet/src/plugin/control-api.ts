import type { FastifyInstance } from 'fastify'
import type { ChainTip } from '../chain/types.js'
import type { InjectedFault } from '../faults.js'
import type { Devnet } from '../types.js'
import { guardControls } from './control-guards.js'

const count = { type: 'integer', minimum: 1, maximum: 10_000 } as const

const tipSchema = {
  type: 'object',
  required: ['height', 'slot', 'hash'],
  properties: { height: { type: 'integer' }, slot: { type: 'integer' }, hash: { type: 'string' } },
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
  },
} as const

const faultSchema = {
  type: 'object',
  required: ['kind'],
  additionalProperties: false,
  properties: {
    kind: { enum: ['time-out', 'refusal', 'rate-limit', 'failure', 'garbage', 'delay', 'lost-answer'] },
    target: { enum: ['blockfrost', 'kupo', 'ogmios', 'client'] },
    operation: {
      enum: ['utxos', 'transaction', 'submit', 'evaluate', 'parameters', 'tip', 'datum', 'script', 'other'],
    },
    times: { type: 'integer', minimum: 1 },
    delayMs: { type: 'integer', minimum: 0, maximum: 600_000 },
    after: { type: 'integer', minimum: 0 },
  },
} as const

/** Controls that a real layer 1 does not have: blocks on demand, roll-backs and faults. */
export async function controlApi(fastify: FastifyInstance, { devnet }: { devnet: Devnet }): Promise<void> {
  guardControls(fastify)

  fastify.get('/', { schema: { response: { 200: networkSchema } } }, async () => ({
    tip: tipJson(devnet.tip()),
    currentSlot: Number(devnet.currentSlot()),
    startTime: Number(devnet.slots.zeroTime),
    slotLengthMs: devnet.slots.slotLength,
    networkMagic: devnet.networkMagic,
    mempool: devnet.mempool().length,
  }))

  const body = { type: 'object', additionalProperties: false, properties: { count } }
  fastify.post<{ Body: { count?: number } | undefined }>(
    '/blocks',
    { schema: { body: { anyOf: [body, { type: 'null' }] }, response: { 200: tipSchema } } },
    async (request) => {
      for (let left = request.body?.count ?? 1; left > 0; left--) await devnet.produceBlock()
      return tipJson(devnet.tip())
    },
  )

  fastify.post<{ Body: { blocks: number; resubmit?: boolean } }>(
    '/roll-back',
    {
      schema: {
        body: {
          type: 'object',
          required: ['blocks'],
          additionalProperties: false,
          properties: { blocks: count, resubmit: { type: 'boolean' } },
        },
        response: { 200: tipSchema },
      },
    },
    async ({ body: { blocks, resubmit = false } }) => tipJson(await devnet.rollBack(blocks, { resubmit })),
  )

  fastify.post<{ Body: InjectedFault }>(
    '/faults',
    { schema: { body: faultSchema } },
    async (request, reply) => {
      devnet.faults.inject(request.body)
      return reply.code(204).send()
    },
  )
  fastify.delete('/faults', async (_request, reply) => {
    devnet.faults.clear()
    return reply.code(204).send()
  })
}

function tipJson({ height, slot, hash }: ChainTip) {
  return { height, slot: Number(slot), hash }
}
