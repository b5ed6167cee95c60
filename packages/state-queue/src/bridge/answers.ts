import { toHex } from '@ratatosk/cbor'
import { timeOf } from '../time-of.js'
import type { BridgeView, Draft, ListedDeposit, ListedWithdrawal, PayoutOutcome } from './ports.js'
import type { BridgeAnswer, DepositAnswer, DraftAnswer, PayoutAnswer, WithdrawalAnswer } from './schemas.js'

export function bridgeAnswer(view: BridgeView): BridgeAnswer {
  const { creditedUntil, confirmedUntil, treasury, settlements } = view
  return {
    address: view.address,
    policies: { bridge: toHex(view.policies.bridge), events: toHex(view.policies.events) },
    assets: view.assets.map((policy) => toHex(policy)),
    eventWaitMs: Number(view.eventWaitMs),
    payoutFee: String(view.payoutFee),
    reserveMin: String(view.reserveMin),
    ...(creditedUntil !== undefined && { creditedUntil: timeOf(creditedUntil) }),
    ...(confirmedUntil !== undefined && { confirmedUntil: timeOf(confirmedUntil) }),
    treasury: {
      lovelace: String(treasury.lovelace),
      assets: [...treasury.assets].map(([unit, quantity]) => ({ unit, quantity: String(quantity) })),
      outputs: treasury.outputs,
      ...(treasury.owed !== undefined && { owed: String(treasury.owed) }),
      ...(treasury.backed !== undefined && { backed: treasury.backed }),
    },
    settlements: settlements.map(({ headerHash, outref, remaining, lovelace }) => ({
      headerHash: toHex(headerHash),
      outref,
      ...(remaining !== undefined && { remaining }),
      ...(lovelace !== undefined && { lovelace: String(lovelace) }),
    })),
  }
}

export function depositAnswer(deposit: ListedDeposit): DepositAnswer {
  const { id, layer1Outref, output, time, state, headerHash, height } = deposit
  return {
    id: toHex(id),
    ...(layer1Outref !== undefined && { layer1Outref }),
    outref: `${toHex(id)}#0`,
    output: toHex(output),
    ...(time !== undefined && { time: timeOf(time) }),
    state,
    ...(headerHash && { headerHash: toHex(headerHash) }),
    ...(height !== undefined && { height: Number(height) }),
  }
}

export function withdrawalAnswer(withdrawal: ListedWithdrawal): WithdrawalAnswer {
  const { outref, output, payTo, state, headerHash, payoutTransactionId } = withdrawal
  return {
    outref,
    output: toHex(output),
    ...(payTo !== undefined && { payTo }),
    kind: 'transaction',
    state,
    ...(headerHash && { headerHash: toHex(headerHash) }),
    ...(payoutTransactionId && { payoutTxHash: toHex(payoutTransactionId) }),
  }
}

export function draftAnswer({ transaction, transactionId, fee, id, creditedFrom }: Draft): DraftAnswer {
  return {
    transaction: toHex(transaction),
    txHash: toHex(transactionId),
    fee: String(fee),
    ...(id && { id: toHex(id) }),
    ...(creditedFrom !== undefined && { creditedFrom: timeOf(creditedFrom) }),
  }
}

type Paid = Extract<PayoutOutcome, { readonly kind: 'paid' }>

export function payoutAnswer({ transactionIds, paid, remaining }: Paid): PayoutAnswer {
  return { txHashes: transactionIds.map((id) => toHex(id)), paid, remaining }
}
