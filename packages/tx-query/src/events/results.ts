import { atMost, portResult } from '@ratatosk/http'
import type { EventPage, EventPosition, LedgerEvent } from '@ratatosk/ports'
import { type TSchema, Type } from '@sinclair/typebox'
import { eventTypes } from './schemas.js'

// The results of a log, as far as they are read.

const text = Type.String()
const id = (length: number) => Type.Uint8Array({ minByteLength: length, maxByteLength: length })
const [transactionId, headerHash] = [id(32), id(28)]
const every = Type.BigInt()
const position = { accepted: every, rejected: every, block: every, verdict: every }
const height = Type.BigInt()

const Position = Type.Object(position, { title: 'an EventPosition' })
const Page = Type.Object(
  {
    events: Type.Array(
      Type.Object({
        type: Type.String({ pattern: `^(?:${eventTypes.join('|')})$` }),
        position: Position,
        at: Type.Date(),
      }),
    ),
    position: Position,
  },
  { title: 'an EventPage' },
)
const events: { readonly [Kind in LedgerEvent['type']]: TSchema } = {
  accepted: Type.Object({ transactionId }, { title: 'an AcceptedEvent' }),
  rejected: Type.Object(
    { submissionId: text, transactionId: Type.Optional(transactionId), code: text, message: text },
    { title: 'a RejectedEvent' },
  ),
  block: Type.Object(
    {
      state: text,
      height,
      headerHash,
      transactions: Type.Integer(),
      commitTransactionId: Type.Optional(transactionId),
      mergeTransactionId: Type.Optional(transactionId),
      endTime: Type.BigInt(),
    },
    { title: 'a BlockEvent' },
  ),
  verdict: Type.Object(
    {
      state: text,
      height,
      headerHash,
      operatorKey: headerHash,
      reason: text,
      policy: Type.Optional(text),
      fraud: Type.Optional(text),
    },
    { title: 'a VerdictEvent' },
  ),
}

/** @throws {TypeError} for anything else: it would end up in a stream, which no one could resume */
export const checkedHead = (given: EventPosition): EventPosition => portResult('log.head', Position, given)

/**
 * @param limit of events of each type
 * @throws {TypeError} as {@link checkedHead}
 */
export function checkedPage(given: EventPage, limit: number): EventPage {
  const page = portResult('log.read', Page, given)
  for (const event of page.events) portResult('log.read', events[event.type], event)
  atMost('log.read', eventTypes.length * limit, page.events)
  return page
}
