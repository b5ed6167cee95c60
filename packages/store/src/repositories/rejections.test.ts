import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backends, type TestStore } from '../test/backends.js'
import { bytes, idOf } from '../test/transactions.js'
import type { NewRejection, Rejections } from '../types.js'

function rejection(submissionId: string, changes: Partial<NewRejection> = {}): NewRejection {
  return {
    submissionId,
    transactionId: idOf(submissionId),
    cbor: bytes(`submission ${submissionId}`),
    attempts: 1,
    code: 'FeeTooSmallUTxO',
    message: 'The fee is 1 lovelace, at least 155381 are required.',
    details: { required: '155381', given: '1' },
    submittedAt: new Date('2026-03-04T05:06:07.891Z'),
    ...changes,
  }
}

describe.each(backends)('dead letters on $name', (backend) => {
  describe.skipIf(backend.missing !== undefined)('are', () => {
    let test: TestStore
    let rejections: Rejections

    beforeEach(async () => {
      test = await backend.create()
      rejections = test.store.rejections
    })

    afterEach(() => test.drop())

    it('found as they were added, with the time of their rejection', async () => {
      const added = rejection('1')
      expect(await rejections.add([added])).toBe(1)
      const found = await rejections.find('1')
      expect(found).toEqual({ ...added, sequence: expect.any(BigInt), rejectedAt: expect.any(Date) })
      expect(await rejections.find('2')).toBeUndefined()
    })

    it('without transaction id where the submission is no transaction', async () => {
      const { transactionId: _, ...added } = rejection('1', { code: 'Malformed' })
      await rejections.add([added])
      expect(await rejections.find('1')).not.toHaveProperty('transactionId')
    })

    it('added once, whether repeated at once or later', async () => {
      expect(await rejections.add([rejection('1'), rejection('2'), rejection('1', { attempts: 9 })])).toBe(2)
      expect(await rejections.add([rejection('2', { attempts: 9 }), rejection('3')])).toBe(1)
      expect((await rejections.list()).map(({ submissionId, attempts }) => [submissionId, attempts])).toEqual(
        [
          ['3', 1],
          ['2', 1],
          ['1', 1],
        ],
      )
    })

    it('listed newest first, page by page', async () => {
      await rejections.add(Array.from({ length: 7 }, (_, n) => rejection(`${n}`)))
      const seen: string[] = []
      let before: bigint | undefined
      for (;;) {
        const page = await rejections.list({ limit: 3, ...(before !== undefined && { before }) })
        if (page.length === 0) break
        seen.push(...page.map(({ submissionId }) => submissionId))
        before = page.at(-1)?.sequence
      }
      expect(seen).toEqual(['6', '5', '4', '3', '2', '1', '0'])
    })

    it.each([0, -1, 1.5, 1001, Number.NaN])('not listed by a limit of %d', async (limit) => {
      await expect(rejections.list({ limit })).rejects.toMatchObject({ code: 'STORE_INVALID_ARGUMENT' })
    })

    it('taken out by one of those who want to replay them', async () => {
      await rejections.add([rejection('1')])
      const taken = await Promise.all([
        rejections.remove('1'),
        rejections.remove('1'),
        rejections.remove('1'),
      ])
      expect(taken.filter(Boolean)).toHaveLength(1)
      expect(await rejections.find('1')).toBeUndefined()
      expect(await rejections.add([rejection('1')])).toBe(1)
    })

    it.each<[string, Partial<NewRejection>]>([
      ['quotes, commas, braces and backslashes', { message: `"a", {b}, 'c', \\d, NULL`, code: 'NULL' }],
      ['every script of the world', { message: 'Ragnarök 🐿️ ᚱᚨᛏᚨ', details: ['🐿️'] }],
      ['a submission id that looks like SQL', { submissionId: `1'); DROP TABLE rejections; --` }],
      ['nested details', { details: { a: [1, null, true, { b: ['"\\'] }], c: '' } }],
      ['details that are null', { details: null }],
      ['a character U+0000 in the trace of a script', { details: { trace: 'a\0b' } }],
    ])('kept with %s', async (_, changes) => {
      const added = rejection('1', changes)
      await rejections.add([added, rejection('other')])
      expect(await rejections.find(added.submissionId)).toMatchObject(added)
    })

    it('kept with U+0000 in the sentence replaced, because text cannot hold it', async () => {
      await rejections.add([rejection('1', { message: 'a\0b' })])
      expect(await rejections.find('1')).toMatchObject({ message: 'a\uFFFDb' })
    })

    it('written with the batch that they belong to', async () => {
      await test.store.withLedger(async (ledger) => {
        await ledger.rejections.add([rejection('1'), rejection('2')])
      })
      expect(await rejections.list()).toHaveLength(2)
    })
  })
})
