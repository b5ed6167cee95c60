import type { EventFilter, EventPosition, LedgerEvent } from '@ratatosk/ports'
import { expect, it } from 'vitest'
import { describeBackends } from '../test/backends.js'
import { idOf, transaction, walletOf } from '../test/transactions.js'
import { verdictOf, verdictOperator } from '../test/verdicts.js'

const start: EventPosition = { accepted: 0n, rejected: 0n, block: 0n, verdict: 0n }
const alice = walletOf('alice')

const short = (event: LedgerEvent) =>
  event.type === 'verdict' ? `verdict ${event.height} ${event.state}` : event.type

describeBackends('events of verdicts', (backend) => {
  it('report each state once, with the proof, until the verdict is deleted', async () => {
    const test = await backend.create()
    const { store } = test
    const readAll = async (filter: EventFilter = {}, limit = 1000, after = start) => {
      const to = await store.events.head()
      const events: LedgerEvent[] = []
      for (let position = after; ; ) {
        const page = await store.events.read({ after: position, to, filter, limit })
        events.push(...page.events)
        if (Object.entries(to).every(([kind, end]) => page.position[kind as keyof EventPosition] >= end))
          return events
        position = page.position
      }
    }
    try {
      const { verdicts } = store
      const verdict = verdictOf(7)
      const { headerHash } = verdict
      await verdicts.found({ ...verdict, state: 'unavailable' })
      await verdicts.found({ ...verdict, state: 'unavailable' })
      await store.withLedger((ledger) => ledger.apply({ transactions: [transaction('a', [], [alice])] }))
      await verdicts.found(verdict)
      const proof = { policy: 'witness', fraud: 'missingSignature' }
      const removal = {
        id: idOf('one'),
        stage: 'removal',
        cbor: idOf('cbor'),
        fee: 1n,
        locked: 0n,
      } as const
      await verdicts.record(headerHash, removal, proof)
      await verdicts.removed(headerHash)
      await verdicts.removed(headerHash)
      const states = ['unavailable', 'invalid', 'removing', 'removed'].map((state) => `verdict 7 ${state}`)
      const all = await readAll()
      expect(all.map(short)).toEqual(['accepted', ...states])
      expect(all.at(-1)).toEqual({
        type: 'verdict',
        position: await store.events.head(),
        headerHash,
        height: 7n,
        operatorKey: verdictOperator,
        state: 'removed',
        reason: 'breaks rule 7',
        ...proof,
        at: expect.any(Date),
      })
      for (const [place, { position }] of all.entries())
        for (const limit of [1, 10])
          expect((await readAll({}, limit, position)).map(short)).toEqual([...states].slice(place))
      expect((await readAll({ headerHash })).map(short)).toEqual(states)
      expect((await readAll({ types: ['verdict'] }, 1)).map(short)).toEqual(states)
      for (const filter of [{ address: alice.address }, { transactions: [idOf('a')] }])
        expect((await readAll(filter)).map(short)).toEqual(['accepted'])

      const head = await store.events.head()
      await test.database.query(`DELETE FROM "${test.schema}".verdicts`)
      expect((await readAll()).map(short)).toEqual(['accepted'])
      await verdicts.found(verdictOf(8))
      expect((await readAll({}, 1000, head)).map(short)).toEqual(['verdict 8 invalid'])
    } finally {
      await test.drop()
    }
  })
})
