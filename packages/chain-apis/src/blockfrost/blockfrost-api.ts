import type { FastifyInstance } from 'fastify'
import { noteHandlers } from '../errors.js'
import { type ApiOptions, addFaultHook } from '../faults/fault-hook.js'
import { blockfrostErrorBody, handleError, invalidPath } from './errors.js'
import type { BlockfrostSource } from './paging.js'
import { addAccountRoutes } from './routes/account-routes.js'
import { addAddressRoutes } from './routes/address-routes.js'
import { addAssetRoutes } from './routes/asset-routes.js'
import { addBlockRoutes } from './routes/block-routes.js'
import { addEpochRoutes } from './routes/epoch-routes.js'
import {
  addChainRoutes,
  addMetadataRoutes,
  addNetworkRoutes,
  addScriptRoutes,
} from './routes/network-routes.js'
import { addStakeRoutes } from './routes/stake-routes.js'
import { addEvaluateRoutes, addSubmitRoute } from './routes/submit-routes.js'
import { addMempoolRoutes, addTransactionRoutes } from './routes/transaction-routes.js'

/** Larger than any transaction. */
const bodyLimit = 1024 * 1024

interface BlockfrostApiOptions extends ApiOptions, BlockfrostSource {
  /** The status of submissions and evaluations: 202 in Yaci's API, otherwise 200. */
  readonly postStatus: 200 | 202
}

/** The part of the Blockfrost API that wallets and SDKs use. */
export async function blockfrostApi(
  fastify: FastifyInstance,
  { faults, postStatus, ...source }: BlockfrostApiOptions,
): Promise<void> {
  fastify.setErrorHandler(handleError)
  noteHandlers(fastify)
  fastify.setNotFoundHandler((_request, reply) => {
    const { statusCode, message } = invalidPath()
    return reply.code(statusCode).send(blockfrostErrorBody(statusCode, message))
  })
  // An empty last part is no value of a parameter.
  fastify.addHook('onRequest', async ({ url }) => {
    const [path = ''] = url.slice(fastify.prefix.length).split('?', 1)
    if (path.length > 1 && path.endsWith('/')) throw invalidPath()
  })
  addFaultHook(fastify, { faults, target: 'blockfrost', errorBody: blockfrostErrorBody })
  fastify.addContentTypeParser(
    ['application/cbor', 'application/octet-stream', 'text/plain'],
    { parseAs: 'buffer', bodyLimit },
    (_request, body, done) => done(null, body),
  )
  const { chain } = source
  addChainRoutes(fastify, chain)
  addNetworkRoutes(fastify, source)
  addBlockRoutes(fastify, source)
  addEpochRoutes(fastify, source)
  addStakeRoutes(fastify, source)
  addAddressRoutes(fastify, source)
  addAssetRoutes(fastify, source)
  addAccountRoutes(fastify, source)
  addTransactionRoutes(fastify, source)
  addMempoolRoutes(fastify, source)
  addMetadataRoutes(fastify, source)
  addScriptRoutes(fastify, source)
  addSubmitRoute(fastify, chain, postStatus)
  addEvaluateRoutes(fastify, chain, postStatus)
}
