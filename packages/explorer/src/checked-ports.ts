import { checkedPort, portCall } from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import type { ExplorerOptions } from './options.js'

const bytes = (length: number) => Type.Uint8Array({ minByteLength: length, maxByteLength: length })
const orNull = <Schema extends ReturnType<typeof Type.Date | typeof Type.Uint8Array>>(schema: Schema) =>
  Type.Union([Type.Null(), schema])
const [headerHash, transactionId, cbor] = [bytes(28), bytes(32), Type.Uint8Array()]
const count = Type.Integer({ minimum: 0 })
const optionalTime = orNull(Type.Date())
const text = Type.String()

const block = {
  height: Type.BigInt(),
  state: text,
  headerHash,
  header: cbor,
  endTime: Type.BigInt(),
  transactions: count,
  commitTransactionId: orNull(transactionId),
  commitTransaction: orNull(cbor),
  mergeTransactionId: orNull(transactionId),
  builtAt: Type.Date(),
  submittedAt: optionalTime,
  committedAt: optionalTime,
  maturedAt: optionalTime,
  mergedAt: optionalTime,
  removedAt: optionalTime,
}
const total = Type.Object({
  state: Type.String({ pattern: '^(?:built|submitted|committed|mature|merged)$' }),
  blocks: count,
  transactions: count,
})
const minutes = Type.Array(Type.Object({ minute: Type.Date(), transactions: count }), {
  title: 'an array of MinuteCount',
})
const counted = Type.Object({ minutes, last: Type.Optional(Type.BigInt()) }, { title: 'CountedMinutes' })
const delay = { p50: Type.Number(), p95: Type.Number(), transactions: count }

const readResults = {
  blocks: Type.Array(Type.Object(block), { title: 'an array of TimedBlock' }),
  block: Type.Optional(Type.Object(block, { title: 'a TimedBlock or undefined' })),
  totals: Type.Array(total, { title: 'an array of BlockTotal' }),
  accepted: counted,
  acceptedBefore: Type.BigInt({ title: 'a bigint' }),
  rejected: counted,
  moved: minutes,
  delay: Type.Optional(Type.Object(delay, { title: 'a Delay or undefined' })),
}

const place = {
  acceptedAt: Type.Date(),
  block: Type.Optional(Type.Object({ headerHash })),
  position: Type.Optional(count),
}
const ledgerResults = {
  transaction: Type.Optional(Type.Uint8Array({ title: 'a Uint8Array or undefined' })),
  placeOf: Type.Optional(Type.Object(place, { title: 'a TransactionPlace or undefined' })),
  transactionsOf: Type.Array(Type.Object({ id: transactionId, cbor }), { title: 'an array of { id, cbor }' }),
  mempool: Type.Object({ transactions: count, bytes: count }, { title: '{ transactions, bytes }' }),
  head: Type.Object(
    { accepted: Type.BigInt(), rejected: Type.BigInt() },
    { title: '{ accepted, rejected }' },
  ),
}

const queueResults = {
  waiting: Type.Object(
    { transactions: count, bytes: count, oldestAt: Type.Optional(Type.Date()) },
    { title: '{ transactions, bytes, oldestAt }' },
  ),
}

const output = Type.Object({
  transactionId,
  index: count,
  sequence: Type.BigInt(),
  output: cbor,
  spent: Type.Optional(Type.Object({ id: transactionId, valid: Type.Boolean() })),
})
const indexResults = {
  outputs: Type.Array(output, { title: 'an array of ExplorerOutput' }),
  knowsAddress: Type.Boolean({ title: 'a boolean' }),
  assets: Type.Array(Type.Unknown(), { title: 'an array' }),
  asset: Type.Unknown(),
}

const layer1Results = {
  tip: Type.Object(
    { height: count, slot: Type.BigInt(), at: Type.Date() },
    { title: '{ height, slot, at }' },
  ),
  wallet: Type.Optional(
    Type.Object(
      { address: text, lovelace: Type.BigInt({ minimum: 0n }) },
      { title: '{ address, lovelace } or undefined' },
    ),
  ),
}

const leaseResult = Type.Optional(
  Type.Object({ holder: text, expiresAt: Type.Date() }, { title: '{ holder, expiresAt } or undefined' }),
)
const knownResult = Type.Boolean({ title: 'a boolean' })

/** The options with ports of which each result is checked, and no call takes for ever. */
export function checkedPorts(options: ExplorerOptions): ExplorerOptions {
  const { reads, ledger, queue, index, layer1, sequencer, knowsSubmission } = options
  return {
    ...options,
    reads: checkedPort('reads', reads, readResults),
    ledger: checkedPort('ledger', ledger, ledgerResults),
    queue: checkedPort('queue', queue, queueResults),
    ...(index && { index: checkedPort('index', index, indexResults) }),
    ...(layer1 && { layer1: checkedPort('layer1', layer1, layer1Results) }),
    ...(sequencer && { sequencer: () => portCall('sequencer', leaseResult, sequencer) }),
    ...(knowsSubmission && {
      knowsSubmission: (id) => portCall('knowsSubmission', knownResult, () => knowsSubmission(id)),
    }),
  }
}
