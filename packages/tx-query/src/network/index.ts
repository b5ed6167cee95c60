import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { checkedLater, errorHandler, internalErrorBody, limitResponses, openScope } from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'

const paths = (api: string) =>
  Type.Object(
    {
      accepted: Type.String({ description: 'Everything that validation has accepted' }),
      committed: Type.String({
        description: 'Only blocks in the state queue on layer 1, which a roll-back of layer 1 can undo',
      }),
      merged: Type.String({ description: 'Only blocks in the confirmed state' }),
    },
    { description: `Paths of the ${api} API by finality, relative to the base address of the node` },
  )

const limit = (description: string) => Type.Integer({ minimum: 1, description })

/** Limits of a transaction besides those of the protocol parameters. */
const limits = Type.Object(
  {
    transactionBytes: limit('Bytes of a transaction'),
    bodyBytes: limit('Bytes of the body'),
    witnessSetBytes: limit('Bytes of the witness set'),
    bodyItems: limit('CBOR items of the body: each head counts, those of containers, tags and chunks too'),
    witnessSetItems: limit('CBOR items of the witness set'),
    inputs: limit('Inputs, of which a reference input counts as two'),
    outputs: limit('Outputs'),
    keyWitnesses: limit('Key witnesses'),
    scripts: limit('Scripts in the witness set'),
    datums: limit('Datums in the witness set'),
    redeemers: limit('Redeemers'),
    resolvedItems: limit('CBOR items of all outputs that inputs and reference inputs name'),
    resolvedBytes: limit('Bytes of these outputs'),
    nativeScriptItems: limit('CBOR items of a native script that the transaction needs'),
  },
  {
    description: 'The most that layer 2 takes of a transaction, so that each breach can be proven on layer 1',
  },
)

/** Body of a 200 of `GET /network`. */
export const NetworkInfo = Type.Object(
  {
    network: Type.String({ description: 'Name of the network: devnet, preview, preprod or mainnet' }),
    networkId: Type.Integer({
      minimum: 0,
      maximum: 1,
      description: 'In addresses: 1 on mainnet, otherwise 0',
    }),
    networkMagic: Type.Integer({ minimum: 0 }),
    slotClock: Type.Object(
      {
        zeroTime: Type.Integer({ description: 'Start of the slot zeroSlot, in POSIX milliseconds' }),
        zeroSlot: Type.Integer({ minimum: 0 }),
        slotLength: Type.Integer({ minimum: 1, description: 'Milliseconds' }),
      },
      {
        description: 'The slots of layer 2: the slot at a time is zeroSlot + (time - zeroTime) / slotLength',
      },
    ),
    protocolParameters: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          "The protocol parameters of layer 2, under the names of Blockfrost's /epochs/latest/parameters",
      },
    ),
    limits: Type.Optional(limits),
    maturityWindow: Type.Integer({
      minimum: 0,
      description: "Time from a block's end until it may be merged, in milliseconds",
    }),
    versions: Type.Object({
      node: Type.String({ description: 'Version of this node' }),
      protocol: Type.Integer({ minimum: 1, description: 'The block version: protocol_version of headers' }),
    }),
    apis: Type.Object(
      { blockfrost: paths('Blockfrost'), kupo: paths('Kupo'), ogmios: paths('Ogmios') },
      { description: 'APIs of layer 1 that serve layer 2: an SDK needs only their URL' },
    ),
  },
  { title: 'NetworkInfo', description: 'What a client must know to build transactions for layer 2' },
)
export type NetworkInfo = Static<typeof NetworkInfo>

/** Schema of `GET /network`. */
export const networkSchema = {
  operationId: 'getNetwork',
  summary: 'What a client must know to build transactions for layer 2',
  description: 'Network id, slot clock, protocol parameters of layer 2, and where the other APIs are.',
  tags: ['ledger'],
  response: { ...limitResponses(), 200: NetworkInfo, 500: internalErrorBody() },
}

/** Options of {@link network}. */
export interface NetworkOptions extends RegisterOptions {
  /** The answer. It does not change while the server runs. */
  info: NetworkInfo
}

const name = '@ratatosk/tx-query/network'
/** How long clients may keep the answer, in seconds. */
const maxAge = 60

const plugin: FastifyPluginAsyncTypebox<NetworkOptions> = async (fastify, options) => {
  openScope(fastify, name, { info: checkedLater }, options)
  const { info } = options
  const [wrong] = Value.Errors(NetworkInfo, info)
  if (wrong !== undefined) throw new TypeError(`${name}: info${wrong.path}: ${wrong.message}`)
  fastify.setErrorHandler(errorHandler)
  fastify.get('/network', { schema: networkSchema }, async (_request, reply) =>
    reply.header('cache-control', `public, max-age=${maxAge}`).send(info),
  )
}

/**
 * Fastify plugin: `GET /network` serves what a client needs to build transactions: network, slot clock,
 * protocol parameters, maturity window, versions, and where the APIs are.
 *
 * Encapsulated. Throws a `TypeError` at startup if the answer does not fit its schema.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(network, { info })
 * ```
 */
export const network = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default network
