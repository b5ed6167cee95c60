import { isDecodeError } from '@ratatosk/cbor'
import { errorBody, limitResponses, orBusy, retryAfterHeader, unauthorizedBody } from '@ratatosk/http'
import { type Address, decodeBech32Address } from '@ratatosk/ledger'
import type { ClaimRequest } from '@ratatosk/ports'
import { type Static, Type } from '@sinclair/typebox'
import { FaucetError, faucetStatuses, InvalidClaimError, overloadCode } from './errors.js'

/** Maximum length of `idempotencyKey` and `ipHash`, in UTF-16 code units. */
const maxTextLength = 256

/** Control characters, which databases refuse, and lone surrogates, which databases cannot tell apart. */
const forbidden = /[\p{Cc}\p{Cs}]/u

/** Reads a claim. @throws {InvalidClaimError} naming the field; {FaucetError} with an `ADDRESS_…` code */
export function readClaim(body: unknown): ClaimRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new InvalidClaimError('body', 'must be a JSON object')
  }
  const { address, idempotencyKey, ipHash } = body as Readonly<Record<string, unknown>>
  if (typeof address !== 'string') throw new InvalidClaimError('address', 'must be a string')
  const claim = {
    idempotencyKey: readText('idempotencyKey', idempotencyKey),
    ipHash: readText('ipHash', ipHash),
  }
  return { ...claim, address: readAddress(address) }
}

function readText(field: string, value: unknown): string {
  if (typeof value !== 'string') throw new InvalidClaimError(field, 'must be a string')
  if (value === '') throw new InvalidClaimError(field, 'must not be empty')
  if (value.length > maxTextLength) {
    throw new InvalidClaimError(field, `must not have more than ${maxTextLength} characters`)
  }
  if (forbidden.test(value)) throw new InvalidClaimError(field, 'must not have control characters')
  return value
}

function readAddress(text: string): Uint8Array {
  const address = decode(text)
  if (address.networkId !== 0) throw new FaucetError('ADDRESS_NETWORK_MISMATCH')
  if (!('payment' in address)) throw new FaucetError('ADDRESS_NO_PAYMENT_CREDENTIAL')
  if (address.payment.kind === 'script') throw new FaucetError('ADDRESS_SCRIPT')
  return address.bytes
}

function decode(text: string): Address {
  try {
    return decodeBech32Address(text)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new FaucetError(
      error.code === 'ADDRESS_WRONG_NETWORK' ? 'ADDRESS_NETWORK_MISMATCH' : 'ADDRESS_INVALID',
    )
  }
}

/** Body of the 200 response. */
export const FaucetClaim = Type.Object(
  {
    claimId: Type.String({ format: 'uuid' }),
    txHash: Type.String({ description: 'Id of the funding transaction', pattern: '^[0-9a-f]{64}$' }),
    amount: Type.String({ description: 'Lovelace dispensed', pattern: '^[0-9]+$' }),
    nextEligibleAt: Type.String({
      description: 'When the address may claim again (ISO 8601)',
      format: 'date-time',
    }),
    layer: Type.Optional(
      Type.Integer({ description: 'The layer that has the payment', minimum: 1, maximum: 2 }),
    ),
  },
  {
    title: 'FaucetClaim',
    description: 'A claim and its payment',
    examples: [
      {
        claimId: '3f0a1c52-7d1e-4b7e-9a55-0d4b1f1f6c11',
        txHash: '6ad4a1f5e7d2c3b4958677685a4b3c2d1e0f9081726354453627181900aabbcc',
        amount: '100000000',
        nextEligibleAt: '2026-11-23T06:00:00.000Z',
        layer: 1,
      },
    ],
  },
)
export type FaucetClaim = Static<typeof FaucetClaim>

const faucetErrorTitles: Readonly<Record<number, string>> = {
  400: 'FaucetAddressError',
  429: 'FaucetLimitError',
  500: 'FaucetPaymentError',
  503: 'FaucetDepletedError',
}

/** The fields of an error with this status beside `error`. */
function faucetErrorBody(status: number, description: string) {
  const all = { ...faucetStatuses, [overloadCode]: 503 }
  const codes = (Object.keys(all) as (keyof typeof all)[]).filter((code) => all[code] === status)
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
    {
      title: faucetErrorTitles[status] ?? 'FaucetError',
      description,
      ...(status === 429 && { headers: retryAfterHeader }),
    },
  )
}

const text = (description: string) => Type.String({ description, minLength: 1, maxLength: maxTextLength })

/**
 * Schema of `POST /faucet/claims`. It describes the body as it is sent and types it as the handler receives
 * it.
 */
export const claimSchema = {
  operationId: 'claim',
  summary: 'Claim testnet ada',
  description: 'Requires `Authorization: Bearer <token>`.',
  tags: ['faucet'],
  consumes: ['application/json'],
  body: Type.Unsafe<ClaimRequest>(
    Type.Object({
      address: Type.String({ description: 'Bech32 testnet address with a payment key credential' }),
      idempotencyKey: text('Stable unique key of the claim: sent again, it gets the same result'),
      ipHash: text("Identifies the requester's IP address, usually a hash of it"),
    }),
  ),
  response: {
    ...limitResponses(),
    200: FaucetClaim,
    400: faucetErrorBody(400, 'A field is malformed, or the address cannot be paid'),
    401: unauthorizedBody(),
    409: errorBody('The idempotencyKey belongs to a claim of another address'),
    413: errorBody('The body is larger than 16 KiB'),
    415: errorBody('The content type is not application/json'),
    429: faucetErrorBody(429, 'The address claimed too recently, or the IP limit is reached'),
    500: faucetErrorBody(
      500,
      'The payment failed or its outcome is unknown: try again with the same idempotencyKey',
    ),
    503: orBusy(faucetErrorBody(503, 'The wallet has insufficient funds')),
  },
}
