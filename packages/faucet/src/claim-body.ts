import { isDecodeError } from '@ratatosk/cbor'
import { type Address, decodeBech32Address } from '@ratatosk/ledger'
import type { ClaimRequest } from '@ratatosk/ports'
import { FaucetError, InvalidClaimError } from './errors.js'

/** Maximum length of `idempotencyKey` and `ipHash`, in UTF-16 code units. */
export const maxTextLength = 256

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
