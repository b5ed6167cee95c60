import type { FaucetPayment, HeldFaucetClaim } from './types.js'

export interface PaymentRow {
  readonly paymentId: Uint8Array | null
  readonly payment: Uint8Array | null
  readonly paymentExpiresAt: Date | null
}

export interface HeldRow extends PaymentRow {
  readonly id: string
  readonly token: bigint
  readonly state: HeldFaucetClaim['state']
  readonly address: Uint8Array
  readonly amount: bigint
  readonly nextEligibleAt: Date
}

/** The columns of a {@link HeldRow}. */
export const claimRow = `id, token, state, address, amount, next_eligible_at AS "nextEligibleAt", payment_id AS "paymentId",
  payment, payment_expires_at AS "paymentExpiresAt"`

export function toPayment({ paymentId, payment, paymentExpiresAt }: PaymentRow): FaucetPayment | undefined {
  if (paymentId === null || payment === null || paymentExpiresAt === null) return undefined
  return { id: paymentId, cbor: payment, expiresAt: paymentExpiresAt }
}

/** @param state before the claim was taken */
export function toHeldClaim(row: HeldRow, state: HeldFaucetClaim['state']): HeldFaucetClaim {
  const { id, token, address, amount, nextEligibleAt } = row
  const payment = toPayment(row)
  return { id, token, state, address, amount, nextEligibleAt, ...(payment && { payment }) }
}
