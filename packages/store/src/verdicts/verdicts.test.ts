import { expect, it } from 'vitest'
import { describeBackends } from '../test/backends.js'
import { idOf, verdictOf, verdictOperator } from '../test/samples.js'
import type { RecordedTransaction, VerdictStage } from './verdicts.js'

const transactionOf = (name: string, stage: VerdictStage): RecordedTransaction => ({
  id: idOf(name),
  stage,
  cbor: Uint8Array.of(1),
  fee: 400_000n,
  locked: stage === 'datum' ? 3_000_000n : 0n,
})

const proof = { policy: 'witness', fraud: 'missingSignature' }

describeBackends('the verdicts', (backend) => {
  it('go from invalid to removed, and back where layer 1 shows the block again', async () => {
    const test = await backend.create()
    try {
      const { verdicts } = test.store
      const verdict = verdictOf(7, 0)
      const { headerHash, header, commitId } = verdict
      const begun = new Date(Date.now() - 60_000)
      expect(await verdicts.found(verdict)).toEqual({
        headerHash,
        header,
        commitId,
        height: 7n,
        state: 'invalid',
        reason: 'breaks rule 7',
        journal: [],
      })
      await verdicts.unprovable(headerHash, 'no claim proves it')
      expect((await verdicts.list({ limit: 1 })).verdicts).toMatchObject([
        { state: 'unprovable', reason: 'no claim proves it' },
      ])
      expect(await verdicts.found(verdict)).toMatchObject({ state: 'invalid', reason: 'breaks rule 7' })

      const [datum, removal] = [transactionOf('one', 'datum'), transactionOf('two', 'removal')]
      await verdicts.record(headerHash, datum, proof)
      await verdicts.record(headerHash, removal, proof)
      expect(await verdicts.open()).toMatchObject([
        { headerHash, proof, state: 'removing', journal: [datum, removal] },
      ])
      expect(await verdicts.spentSince(begun)).toBe(3_800_000n)
      expect(await verdicts.spentSince(new Date(Date.now() + 60_000))).toBe(0n)

      await verdicts.removed(headerHash)
      const [removed] = (await verdicts.list({ limit: 1 })).verdicts
      expect(removed).toEqual({
        block: { headerHash, height: 7n, operatorKey: verdictOperator },
        state: 'removed',
        reason: 'breaks rule 7',
        position: 0,
        proof,
        transactions: [
          { id: datum.id, stage: 'datum', fee: 400_000n, sentAt: expect.any(Date) },
          { id: removal.id, stage: 'removal', fee: 400_000n, sentAt: expect.any(Date) },
        ],
        foundAt: expect.any(Date),
        removedAt: expect.any(Date),
      })
      await verdicts.removed(headerHash)
      expect((await verdicts.list({ limit: 1 })).verdicts).toEqual([removed])
      expect(await verdicts.open()).toEqual([])
      await verdicts.record(headerHash, transactionOf('three', 'prune'))
      expect(await verdicts.newestRemoved()).toMatchObject({ state: 'removed', proof })

      expect(await verdicts.found(verdict)).toMatchObject({ state: 'removing' })
      expect((await verdicts.list({ limit: 1 })).verdicts[0]).not.toHaveProperty('removedAt')
      for (const { id } of [datum, removal]) await verdicts.drop(id)
      expect(await verdicts.found(verdict)).toMatchObject({ state: 'invalid', journal: [{ stage: 'prune' }] })
      expect(await verdicts.newestRemoved()).toBeUndefined()
    } finally {
      await test.drop()
    }
  })

  it('of unavailable blocks hold questions, and end where the body comes', async () => {
    const test = await backend.create()
    try {
      const { verdicts } = test.store
      const verdict = { ...verdictOf(7), state: 'unavailable' } as const
      const { headerHash } = verdict
      const begun = new Date(Date.now() - 60_000)
      expect(await verdicts.found(verdict)).toMatchObject({ state: 'unavailable' })
      const question = { ...transactionOf('one', 'question'), locked: 3_000_000n }
      await verdicts.record(headerHash, question)
      expect(await verdicts.open()).toMatchObject([{ state: 'unavailable', journal: [question] }])
      expect(await verdicts.spentSince(begun)).toBe(3_400_000n)
      const asked = { reference: Uint8Array.of(1), output: Uint8Array.of(2) }
      for (let n = 0; n < 2; n++) await verdicts.keepQuestion(headerHash, asked)
      expect(await verdicts.keptQuestions(headerHash)).toEqual([asked])
      expect(await verdicts.keptQuestions(verdictOf(8).headerHash)).toEqual([])
      expect(await verdicts.recorded([question.id, idOf('none')])).toEqual([question])
      expect(await verdicts.recorded([])).toEqual([])
      await verdicts.valid(headerHash, 'its body came late')
      expect(await verdicts.open()).toEqual([])
      const { verdicts: listed } = await verdicts.list({ limit: 1, state: 'valid' })
      expect(listed).toMatchObject([{ transactions: [{ stage: 'question' }] }])

      expect(await verdicts.found(verdict)).toMatchObject({ state: 'unavailable' })
      expect(await verdicts.found(verdictOf(7))).toMatchObject({ state: 'invalid' })
      await verdicts.record(headerHash, transactionOf('two', 'verdict'), proof)
      expect(await verdicts.found(verdict)).toMatchObject({ state: 'removing' })
    } finally {
      await test.drop()
    }
  })

  it('are listed newest first, page by page, and bounded', async () => {
    const test = await backend.create()
    try {
      const { verdicts } = test.store
      const hashes: Uint8Array[] = []
      for (let height = 1; height <= 5; height++) {
        const verdict = verdictOf(height)
        hashes.unshift(verdict.headerHash)
        await verdicts.found(verdict)
      }
      await verdicts.removed(hashes[1]!)
      expect([...(await verdicts.counts())].sort()).toEqual([
        ['invalid', 4],
        ['removed', 1],
      ])
      const heights = async (...query: Parameters<typeof verdicts.list>) => {
        const { verdicts: listed, hasMore } = await verdicts.list(...query)
        return [...listed.map(({ block }) => Number(block.height)), hasMore]
      }
      expect(await heights({ limit: 2 })).toEqual([5, 4, true])
      expect(await heights({ limit: 2, before: hashes[1]! })).toEqual([3, 2, true])
      expect(await heights({ limit: 2, before: hashes[3]! })).toEqual([1, false])
      expect(await heights({ limit: 5, before: idOf('none').subarray(4) })).toEqual([false])
      expect(await heights({ limit: 5, state: 'removed' })).toEqual([4, false])
      expect(await heights({ limit: 5, state: 'invalid', before: hashes[0]! })).toEqual([3, 2, 1, false])
      for (const limit of [0, 1.5])
        await expect(verdicts.list({ limit })).rejects.toMatchObject({ code: 'STORE_INVALID_ARGUMENT' })
      await expect(verdicts.list({ limit: 1 }, AbortSignal.abort())).rejects.toThrow(/aborted/)

      const old = `
        INSERT INTO "${test.schema}".verdicts (header_hash, height, header, reason)
        SELECT substring(sha256(n::text::bytea) FOR 28), n, ''::bytea, 'old'
        FROM generate_series(1, 10000) AS n`
      await test.database.query(old)
      await verdicts.found(verdictOf(6))
      const count = `SELECT count(*)::integer AS kept, min(number)::integer AS oldest
        FROM "${test.schema}".verdicts`
      expect(await test.database.query(count)).toMatchObject([{ kept: 10_000, oldest: 7 }])
    } finally {
      await test.drop()
    }
  })
})
