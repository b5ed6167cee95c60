import type { Payment, ReserveRequest } from '@ratatosk/ports'
import { bytes, idOf, walletOf } from './transactions.js'

export const hour = 3_600_000
export const day = 24 * hour
export const noon = Date.UTC(2026, 0, 1, 12)
export const ada = 1_000_000n

export function request(name: string, changes: Partial<ReserveRequest> = {}): ReserveRequest {
  return {
    idempotencyKey: `key of ${name}`,
    address: walletOf(name).address,
    ipHash: `ip of ${name}`,
    amount: 100n * ada,
    now: new Date(noon),
    cooldownMs: day,
    dailyIpLimit: 5,
    leaseMs: hour,
    ...changes,
  }
}

export function paymentOf(name: string, expiresAt = noon + hour): Payment {
  return { id: idOf(`payment of ${name}`), cbor: bytes(`payment of ${name}`), expiresAt: new Date(expiresAt) }
}
