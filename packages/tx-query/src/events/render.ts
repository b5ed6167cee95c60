import { toHex } from '@ratatosk/cbor'
import type { BlockEvent, EventPosition, LedgerEvent, VerdictEvent } from '@ratatosk/ports'
import { formatPosition } from './position.js'
import type { AcceptedData, BlockData, RejectedData, VerdictData } from './schemas.js'

/** Characters of a reason. `/submission` and `/verdicts` have all of it; here it bounds what a page takes. */
const maxReason = 300

/** Milliseconds after which `EventSource` reconnects. */
const retryMs = 1000

/** The beginning of a stream: an `EventSource` resumes at this id without data before the first event. */
export function renderStart(position: EventPosition): Buffer {
  return Buffer.from(`retry: ${retryMs}\nid: ${formatPosition(position)}\n\n`)
}

/** A heartbeat: everything up to the position was sent or filtered out. */
export function renderHeartbeat(position: EventPosition): Buffer {
  return Buffer.from(`:\nid: ${formatPosition(position)}\n\n`)
}

/** Events in the format of the HTML standard, section "Server-sent events". JSON has no line breaks. */
export function renderEvents(events: readonly LedgerEvent[], maturityWindowMs: number | undefined): Buffer {
  return Buffer.from(
    events
      .map(
        (event) =>
          `id: ${formatPosition(event.position)}\nevent: ${event.type}\ndata: ` +
          `${JSON.stringify(dataOf(event, maturityWindowMs))}\n\n`,
      )
      .join(''),
  )
}

function dataOf(
  event: LedgerEvent,
  maturityWindowMs: number | undefined,
): AcceptedData | RejectedData | BlockData | VerdictData {
  const at = event.at.toISOString()
  if (event.type === 'accepted') return { txHash: toHex(event.transactionId), at }
  if (event.type === 'block') return blockData(event, at, maturityWindowMs)
  if (event.type === 'verdict') return verdictData(event, at)
  const { submissionId, transactionId, code, message } = event
  return {
    id: submissionId,
    ...(transactionId && { txHash: toHex(transactionId) }),
    code,
    reason: cut(message),
    at,
  }
}

function blockData(event: BlockEvent, at: string, maturityWindowMs: number | undefined): BlockData {
  const { state, height, headerHash, transactions, commitTransactionId, mergeTransactionId } = event
  const endTime = Number(event.endTime)
  return {
    state,
    height: Number(height),
    headerHash: toHex(headerHash),
    transactions,
    ...(commitTransactionId && { commitTxHash: toHex(commitTransactionId) }),
    ...(mergeTransactionId && { mergeTxHash: toHex(mergeTransactionId) }),
    endTime: new Date(endTime).toISOString(),
    ...(maturityWindowMs !== undefined && {
      maturesAt: new Date(endTime + maturityWindowMs).toISOString(),
    }),
    at,
  }
}

function verdictData({ block, state, reason, proof }: VerdictEvent, at: string): VerdictData {
  return {
    state,
    height: Number(block.height),
    headerHash: toHex(block.headerHash),
    operatorKey: toHex(block.operatorKey),
    reason: cut(reason),
    ...(proof && { policy: proof.policy, fraud: proof.fraud }),
    at,
  }
}

const cut = (text: string): string => (text.length > maxReason ? `${text.slice(0, maxReason)}…` : text)
