import type { FastifyInstance } from 'fastify'
import { type ApiOptions, addFaultHook } from '../faults/fault-hook.js'
import type { LongLists } from '../long-lists.js'
import { blockfrostErrorBody, handleError, invalidPath } from './errors.js'
import { addAccountRoutes } from './routes/account-routes.js'
import { addAddressRoutes } from './routes/address-routes.js'
import { addChainRoutes } from './routes/chain-routes.js'
import { addEvaluateRoutes } from './routes/evaluate-routes.js'
import { addMetadataRoutes, addNetworkRoutes, addScriptRoutes } from './routes/network-routes.js'
import { addSubmitRoute } from './routes/submit-route.js'
import { addTransactionRoutes } from './routes/transaction-routes.js'

/** Larger than any transaction. */
const bodyLimit = 1024 * 1024

interface BlockfrostApiOptions extends ApiOptions {
  /** The most outputs that a response may add up. */
  readonly maxOutputs: number
  /** The status of submissions and evaluations: 202 in Yaci's API, otherwise 200. */
  readonly postStatus: 200 | 202
  readonly lists: LongLists
}

/** The part of the Blockfrost API that wallets and SDKs use. */
export async function blockfrostApi(
  fastify: FastifyInstance,
  { chain, faults, lists, maxOutputs, postStatus }: BlockfrostApiOptions,
): Promise<void> {
  fastify.setErrorHandler(handleError)
  fastify.setNotFoundHandler((_request, reply) => {
    const { statusCode, message } = invalidPath()
    return reply.code(statusCode).send(blockfrostErrorBody(statusCode, message))
  })
  addFaultHook(fastify, { faults, target: 'blockfrost', errorBody: blockfrostErrorBody })
  fastify.addContentTypeParser(
    ['application/cbor', 'application/octet-stream', 'text/plain'],
    { parseAs: 'buffer', bodyLimit },
    (_request, body, done) => done(null, body),
  )
  addChainRoutes(fastify, chain)
  addNetworkRoutes(fastify, chain, maxOutputs)
  addAddressRoutes(fastify, chain, maxOutputs)
  addAccountRoutes(fastify, chain, maxOutputs)
  addTransactionRoutes(fastify, chain)
  addMetadataRoutes(fastify, chain, lists)
  addScriptRoutes(fastify, chain)
  addSubmitRoute(fastify, chain, postStatus)
  addEvaluateRoutes(fastify, chain, postStatus)
}
