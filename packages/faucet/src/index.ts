import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  bearerToken,
  errorHandler,
  hasCode,
  hasMethods,
  openScope,
  overloadWith,
  portOutcome,
  readBy,
  sameOriginOnly,
  securedBy,
  tokenText,
} from '@ratatosk/http'
import type { ClaimPayer, ClaimRequest, ClaimResult } from '@ratatosk/ports'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { claimSchema, type FaucetClaim, readClaim } from './claim.js'
import { FaucetError, KeyUsedError, overloadCode, UnsupportedTypeError } from './errors.js'

export type { ClaimPayer, ClaimRequest, ClaimResult } from '@ratatosk/ports'
export { claimSchema, FaucetClaim } from './claim.js'
export {
  FaucetError,
  type FaucetErrorCode,
  InvalidClaimError,
  isFaucetError,
  KeyUsedError,
} from './errors.js'

/** Options of the plugin. */
export interface FaucetOptions extends RegisterOptions {
  /** The token that clients send as `Authorization: Bearer <token>`; compared in constant time. */
  token: string
  /** The network whose addresses are paid. `mainnet` is refused: there is no faucet on mainnet. */
  network: 'testnet' | 'mainnet'
  /** Pays the claims; `createFaucetPayer` of `@ratatosk/workers/faucet-payer` creates one. */
  payer: ClaimPayer
  /** The layer on which it pays. Answers then name it. */
  layer?: 1 | 2
}

/** Room for the three fields and for others that a client sends. */
const bodyLimit = 16_384

const name = '@ratatosk/faucet'
const rules = {
  payer: hasMethods('claim'),
  token: tokenText,
  network: Type.Literal('testnet', { expected: 'testnet: there is no faucet on mainnet' }),
  layer: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)], { expected: '1 or 2' })),
}

const plugin: FastifyPluginAsyncTypebox<FaucetOptions> = async (fastify, options) => {
  openScope(fastify, name, rules, options)
  const { token, payer, layer } = options

  fastify.setErrorHandler((error, request, reply) =>
    errorHandler(
      hasCode(error, 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
        ? new UnsupportedTypeError()
        : overloadWith(error, { code: overloadCode }),
      request,
      reply,
    ),
  )
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    fastify.getDefaultJsonParser('remove', 'remove'),
  )

  fastify.post(
    '/faucet/claims',
    {
      schema: claimSchema,
      onRequest: bearerToken(token),
      // A page that sends the token would give it to everyone who opens the page.
      config: { ...sameOriginOnly, ...securedBy('faucetToken') },
      validatorCompiler: readBy(readClaim),
      bodyLimit,
    },
    async ({ body }) => ({ ...answer(await claimBy(payer, body)), ...(layer && { layer }) }),
  )
}

async function claimBy(payer: ClaimPayer, body: ClaimRequest): Promise<ClaimResult> {
  try {
    return portOutcome('payer.claim', results, await payer.claim(body))
  } catch (cause) {
    throw new FaucetError('INTERNAL', { cause })
  }
}

/** The values of results that an answer has. */
const results = {
  funded: {
    claimId: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
    txHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    amount: Type.BigInt({ minimum: 0n }),
    nextEligibleAt: Type.Date(),
  },
  'key-used': {},
  cooldown: { nextEligibleAt: Type.Date() },
  'ip-limit': {},
  depleted: {},
  'validation-failed': {},
  undecided: {},
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
 * Fastify plugin: `POST /faucet/claims` pays testnet ada to clients that have the token.
 *
 * The plugin is encapsulated: its parser and error handler are its own, and a server may register several
 * instances, each under its own `prefix`. To turn the faucet off, do not register it.
 *
 * @throws {TypeError} at registration, if an option is missing or invalid
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(faucet, { token, network: 'testnet', payer: createFaucetPayer({ claims, wallet }) })
 * ```
 */
export const faucet = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default faucet
