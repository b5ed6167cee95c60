import { errorBody } from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'
import { maxTextLength } from './claim-body.js'
import { type FaucetErrorCode, faucetStatuses } from './errors.js'
import type { ClaimRequest } from './types.js'

/** Body of a 200. */
export const FaucetClaim = Type.Object(
  {
    claimId: Type.String({ format: 'uuid' }),
    txHash: Type.String({ description: 'Id of the funding transaction', pattern: '^[0-9a-f]{64}$' }),
    amount: Type.String({ description: 'Lovelace dispensed', pattern: '^[0-9]+$' }),
    nextEligibleAt: Type.String({
      description: 'When the address may claim again (ISO 8601)',
      format: 'date-time',
    }),
  },
  { title: 'FaucetClaim' },
)
export type FaucetClaim = Static<typeof FaucetClaim>

/** What an error with this status may say beside `error`. */
function faucetErrorBody(status: number, description: string) {
  const codes = (Object.keys(faucetStatuses) as FaucetErrorCode[]).filter(
    (code) => faucetStatuses[code] === status,
  )
  return Type.Object(
    {
      error: Type.String(),
      code: Type.Optional(Type.Union(codes.map((code) => Type.Literal(code)))),
      ...(status === 429 && {
        nextEligibleAt: Type.Optional(
          Type.String({
            description: 'Only with COOLDOWN: when the address may claim again (ISO 8601)',
            format: 'date-time',
          }),
        ),
      }),
    },
    { title: 'FaucetError', description },
  )
}

const text = (description: string) => Type.String({ description, minLength: 1, maxLength: maxTextLength })

/** Schema of `POST /faucet/claims`. The body is described as it is sent and typed as the handler sees it. */
export const claimSchema = {
  operationId: 'claim',
  summary: 'Claim testnet ADA',
  description: 'Asks for `Authorization: Bearer <token>`.',
  tags: ['faucet'],
  consumes: ['application/json'],
  body: Type.Unsafe<ClaimRequest>(
    Type.Object({
      address: Type.String({ description: 'Bech32 testnet address with a payment key credential' }),
      idempotencyKey: text('Stable unique key of the claim: the same again gets the same result'),
      ipHash: text("Stands for the requester's IP"),
    }),
  ),
  response: {
    200: FaucetClaim,
    400: faucetErrorBody(400, 'The body breaks its rules, or the address cannot be paid'),
    401: errorBody('No bearer token, or a wrong one'),
    409: errorBody('The idempotencyKey belongs to a claim of another address'),
    413: errorBody('Larger than a claim may be'),
    415: errorBody('Not application/json'),
    429: faucetErrorBody(429, 'Claimed too recently, or too often'),
    500: faucetErrorBody(500, 'The payment failed: try again with the same idempotencyKey'),
    503: faucetErrorBody(503, 'The wallet has too little left'),
  },
}
