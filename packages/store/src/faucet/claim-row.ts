import { type Row, selectList } from '@ratatosk/database'
import type { HeldClaim, Payment } from '@ratatosk/ports'
import { faucetClaims } from '../schema/faucet-tables.js'

const { id, token, state, address, amount, nextEligibleAt, paymentId, payment, paymentExpiresAt } =
  faucetClaims

export const paymentRow = { paymentId, payment, paymentExpiresAt }

export const claimRow = { id, token, state, address, amount, nextEligibleAt, ...paymentRow }

export const claimList = selectList(claimRow)

export type ClaimRow = Row<typeof claimRow>

export function toPayment(row: Row<typeof paymentRow>): Payment | undefined {
  const { paymentId, payment, paymentExpiresAt } = row
  if (paymentId === null || payment === null || paymentExpiresAt === null) return undefined
  return { id: paymentId, cbor: payment, expiresAt: paymentExpiresAt }
}

/** @param state the claim's state before it was taken */
export function toHeldClaim(row: ClaimRow, state: HeldClaim['state']): HeldClaim {
  const { id, token, address, amount, nextEligibleAt } = row
  const payment = toPayment(row)
  return { id, token, state, address, amount, nextEligibleAt, ...(payment && { payment }) }
}
