import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { bearerToken, errorHandler, readBy } from '@ratatosk/http'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { readClaim } from './claim-body.js'
import { FaucetError, KeyUsedError } from './errors.js'
import { claimSchema, type FaucetClaim } from './schemas.js'
import type { ClaimResult, Faucet } from './types.js'

export { createFaucet, type FaucetSettings } from './engine/create-faucet.js'
export { FaucetError, type FaucetErrorCode, InvalidClaimError, KeyUsedError } from './errors.js'
export type * from './ports.js'
export { claimSchema, FaucetClaim } from './schemas.js'
export type * from './types.js'

export interface FaucetOptions extends RegisterOptions {
  /** What claimants send as `Authorization: Bearer <token>`. */
  token: string
  /** The network whose addresses are paid. There is no faucet on mainnet. */
  network: 'testnet' | 'mainnet'
  /** What pays; {@link createFaucet} makes one. */
  faucet: Pick<Faucet, 'claim'>
}

/** Three short texts and room for what else a client sends. */
const bodyLimit = 16_384

const plugin: FastifyPluginAsyncTypebox<FaucetOptions> = async (fastify, options) => {
  const { token, network, faucet } = options
  if (typeof faucet?.claim !== 'function') {
    throw new TypeError('@ratatosk/faucet: faucet.claim must be a function')
  }
  if (network === 'mainnet') throw new TypeError('@ratatosk/faucet: there is no faucet on mainnet')
  if (network !== 'testnet') throw new TypeError('@ratatosk/faucet: network must be testnet')

  fastify.setErrorHandler(errorHandler)
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    fastify.getDefaultJsonParser('remove', 'remove'),
  )

  fastify.post(
    '/faucet/claims',
    { schema: claimSchema, onRequest: bearerToken(token), validatorCompiler: readBy(readClaim), bodyLimit },
    async ({ body }) => answer(await faucet.claim(body).catch(fail)),
  )
}

function fail(cause: unknown): never {
  throw new FaucetError('INTERNAL', { cause })
}

function answer(result: ClaimResult): FaucetClaim {
  switch (result.kind) {
    case 'funded': {
      const { claimId, txHash, amount, nextEligibleAt } = result
      return { claimId, txHash, amount: String(amount), nextEligibleAt: nextEligibleAt.toISOString() }
    }
    case 'key-used':
      throw new KeyUsedError()
    case 'cooldown':
      throw new FaucetError('COOLDOWN', { nextEligibleAt: result.nextEligibleAt })
    case 'ip-limit':
      throw new FaucetError('IP_LIMIT')
    case 'depleted':
      throw new FaucetError('DEPLETED')
    case 'validation-failed':
      throw new FaucetError('VALIDATION_FAILED')
    case 'undecided':
      throw new FaucetError('INTERNAL')
  }
}

/**
 * Fastify plugin: `POST /faucet/claims` pays testnet ADA to whoever has the token.
 *
 * It is encapsulated: parser and error handler are its own, and several instances fit into one server, each under its
 * `prefix`. A faucet that is off is one that is not registered.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(faucet, { token, network: 'testnet', faucet: createFaucet({ claims, wallet }) })
 * ```
 */
export const faucet = fp(plugin, { name: '@ratatosk/faucet', fastify: '5.x', encapsulate: true })

export default faucet
