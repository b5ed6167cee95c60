import { toHex } from '@ratatosk/cbor'
import type { ListedQuestion, ListedVerdict, OperatorsView, SummonOutcome } from './ports.js'
import type { OperatorsAnswer, Summoned, SummonsAnswer, VerdictAnswer } from './schemas.js'

/** 9999-12-31T23:59:59.999Z, the last time of ISO 8601 with a year of four digits. */
const lastTime = 253_402_300_799_999n

export function operatorsAnswer(view: OperatorsView): OperatorsAnswer {
  const { inTurn, next, takeOverAt } = view
  return {
    ...(inTurn && { inTurn: toHex(inTurn) }),
    ...(next && { next: toHex(next) }),
    turnEndsAt: timeOf(view.turnEndsAt),
    ...(takeOverAt !== undefined && { takeOverAt: timeOf(takeOverAt) }),
    turnLength: Number(view.turnLength),
    operators: view.operators.map(({ operatorKey, bond, activeFrom, activeUntil, releaseAt }) => ({
      operatorKey: toHex(operatorKey),
      bond: String(bond),
      activeFrom: timeOf(activeFrom),
      ...(activeUntil !== undefined && { activeUntil: timeOf(activeUntil) }),
      ...(releaseAt !== undefined && { releaseAt: timeOf(releaseAt) }),
    })),
    maxOperators: view.maxOperators,
    permissioned: view.permissioned,
  }
}

export function questionAnswer(question: ListedQuestion): SummonsAnswer['questions'][number] {
  const { outRef, headerHash, kind, root, key, deadline, bond } = question
  return {
    question: outRef,
    headerHash: toHex(headerHash),
    kind,
    root,
    key: toHex(key),
    deadline: timeOf(deadline),
    bond: String(bond),
  }
}

export function verdictAnswer(verdict: ListedVerdict): VerdictAnswer {
  const { position, policy, fraud, removedAt } = verdict
  return {
    headerHash: toHex(verdict.headerHash),
    height: Number(verdict.height),
    operatorKey: toHex(verdict.operatorKey),
    state: verdict.state,
    reason: verdict.reason,
    ...(position !== undefined && { position }),
    ...(policy !== undefined && { policy }),
    ...(fraud !== undefined && { fraud }),
    transactions: verdict.transactions.map(({ id, stage, fee, sentAt }) => ({
      txHash: toHex(id),
      stage,
      fee: String(fee),
      sentAt: sentAt.toISOString(),
    })),
    foundAt: verdict.foundAt.toISOString(),
    ...(removedAt !== undefined && { removedAt: removedAt.toISOString() }),
  }
}

type Asked = Extract<SummonOutcome, { readonly kind: 'asked' }>

export function summonedAnswer({ question, transactionId, deadline }: Asked): Summoned {
  return { question, txHash: toHex(transactionId), deadline: timeOf(deadline) }
}

/** A time of layer 1, which is any number of milliseconds, in ISO 8601. */
function timeOf(milliseconds: bigint): string {
  const time = milliseconds < 0n ? 0n : milliseconds > lastTime ? lastTime : milliseconds
  return new Date(Number(time)).toISOString()
}
