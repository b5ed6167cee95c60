import type { FastifyInstance } from 'fastify'
import type { Devnet } from '../../types.js'
import { addFaultHook } from '../fault-hook.js'
import { addAddressRoutes } from './address-routes.js'
import { addChainRoutes } from './chain-routes.js'
import { blockfrostErrorBody, handleError, invalidPath } from './errors.js'
import { addScriptRoutes } from './script-routes.js'
import { addSubmitRoutes } from './submit-routes.js'
import { addTransactionRoutes } from './transaction-routes.js'

/** The part of Blockfrost's HTTP API that wallets and SDKs need to query, build, submit, await and evaluate. */
export async function blockfrostFace(
  fastify: FastifyInstance,
  { devnet }: { devnet: Devnet },
): Promise<void> {
  fastify.setErrorHandler(handleError)
  fastify.setNotFoundHandler((_request, reply) => {
    const { statusCode, message } = invalidPath()
    return reply.code(statusCode).send(blockfrostErrorBody(statusCode, message))
  })
  addFaultHook(fastify, { faults: devnet.faults, face: 'blockfrost', errorBody: blockfrostErrorBody })
  addChainRoutes(fastify, devnet)
  addAddressRoutes(fastify, devnet)
  addTransactionRoutes(fastify, devnet)
  addScriptRoutes(fastify, devnet)
  addSubmitRoutes(fastify, devnet)
}
