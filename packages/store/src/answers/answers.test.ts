import { expect, it } from 'vitest'
import { describeBackends } from '../test/backends.js'
import { idOf, takeLease } from '../test/samples.js'
import type { AnswerTransaction } from './answers.js'

describeBackends('the journal of answers', (backend) => {
  it('has what was recorded last of each question and stage', async () => {
    const test = await backend.create()
    try {
      const { answers, leases } = test.store
      const lease = await takeLease(test.store)
      const of = (name: string, stage: AnswerTransaction['stage'], id: string): AnswerTransaction => ({
        question: idOf(name),
        stage,
        id: idOf(id),
        cbor: Uint8Array.of(1),
      })
      expect(await answers.of([])).toEqual([])
      await answers.record(of('a', 'datum', 'one'), lease)
      await answers.record(of('a', 'answer', 'two'), lease)
      await answers.record(of('b', 'answer', 'three'), lease)
      await answers.record(of('a', 'answer', 'four'), lease)
      const found = await answers.of([idOf('a'), idOf('none')])
      expect(found).toHaveLength(2)
      expect(found).toEqual(expect.arrayContaining([of('a', 'datum', 'one'), of('a', 'answer', 'four')]))
      await leases.release(lease)
      await expect(answers.record(of('c', 'answer', 'five'), lease)).rejects.toMatchObject({
        code: 'STORE_LEASE_LOST',
      })
      expect(await answers.forget(new Date(Date.now() + 60_000))).toBe(3)
      expect(await answers.of([idOf('a'), idOf('b')])).toEqual([])
    } finally {
      await test.drop()
    }
  })
})
