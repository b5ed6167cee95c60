import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeBackends, type TestStore } from '../test/backends.js'
import { expectExactUsage } from '../test/inspect.js'
import { bytes, idOf, newRejection } from '../test/samples.js'
import type { NewRejection, Rejections } from './types.js'

const hour = 3_600_000
const kibibyte = 1_024

/** A rejection of so many bytes of CBOR. */
function sized(submissionId: string, size: number, changes: Partial<NewRejection> = {}): NewRejection {
  const cbor = new Uint8Array(size)
  cbor.set(idOf(submissionId).subarray(0, size))
  return newRejection(submissionId, { cbor, ...changes })
}

function undecodable(submissionId: string, size: number): NewRejection {
  const { transactionId: _, ...rejection } = sized(submissionId, size)
  return rejection
}

describeBackends('the retention of rejections', (backend) => {
  let test: TestStore
  let rejections: Rejections

  beforeEach(async () => {
    test = await backend.create()
    rejections = test.store.rejections
  })

  afterEach(async () => {
    await expectExactUsage(test)
    await test.drop()
  })

  /** As if the submissions had been rejected so long ago. */
  async function age(submissionIds: readonly string[], hours: number): Promise<void> {
    await test.database.query(
      `UPDATE ${test.schema}.rejected_submissions
      SET rejected_at = rejected_at - $1::integer * interval '1 hour'
      WHERE submission_id = ANY($2::text[])`,
      [hours, submissionIds],
    )
  }

  async function withCbor(): Promise<string[]> {
    const letters = await rejections.list()
    return letters.filter(({ hasCbor }) => hasCbor).map(({ submissionId }) => submissionId)
  }

  it('does nothing within age and bytes', async () => {
    await rejections.add([sized('1', 16 * kibibyte), undecodable('2', 16 * kibibyte)])
    expect(await rejections.prune({ maxAgeMs: hour, maxBytes: 64 * kibibyte })).toEqual({
      cborDropped: 0,
      submissionsForgotten: 0,
    })
    expect(await withCbor()).toEqual(['2', '1'])
  })

  it('additions never leave more than the limit, and displace what pruning would remove', async () => {
    const limit = 256 * kibibyte
    const { rejections: limited } = await test.another({ maxRejectionBytes: limit })
    for (let batch = 0; batch < 6; batch++) {
      const letters = Array.from({ length: 8 }, (_, n) => undecodable(`${batch}-${n}`, 15 * kibibyte))
      expect(await limited.add(letters)).toBe(8)
      const { cborBytes, reasonBytes } = await rejections.usage()
      expect(cborBytes + reasonBytes).toBeLessThanOrEqual(limit)
      expect(cborBytes, 'most of it is used').toBeGreaterThan(batch < 2 ? 0 : limit / 2)
    }
    expect((await withCbor()).slice(0, 8)).toEqual([7, 6, 5, 4, 3, 2, 1, 0].map((n) => `5-${n}`))
    expect(await rejections.list()).toHaveLength(48)
    // Reasons without CBOR may take half of it.
    const many = Array.from({ length: 600 }, (_, n) => undecodable(`many-${n}`, 1))
    for (let n = 0; n < many.length; n += 200) await limited.add(many.slice(n, n + 200))
    const { cborBytes, reasonBytes } = await rejections.usage()
    expect(cborBytes + reasonBytes).toBeLessThanOrEqual(limit)
    expect(await rejections.find('many-599')).toBeDefined()
    expect(await rejections.find('0-0')).toBeUndefined()
  })

  it('removes dead letters by the age of their newest rejection', async () => {
    const cbor = bytes('the same bytes')
    await rejections.add([newRejection('old'), newRejection('first', { cbor })])
    await age(['old', 'first'], 5)
    await rejections.add([newRejection('second', { cbor }), newRejection('young')])
    expect(await rejections.prune({ maxAgeMs: 4 * hour, maxBytes: 1024 * kibibyte })).toEqual({
      cborDropped: 0,
      submissionsForgotten: 2,
    })
    expect(await rejections.find('old')).toBeUndefined()
    expect(await rejections.find('first')).toBeUndefined()
    expect(await rejections.find('second')).toMatchObject({ count: 2, cbor })
    expect((await rejections.list()).map(({ submissionId }) => submissionId)).toEqual(['young', 'second'])
  })

  it('drops CBOR before reasons, what does not decode first, then the oldest', async () => {
    await rejections.add([
      sized('1', 16 * kibibyte),
      undecodable('2', 16 * kibibyte),
      sized('3', 16 * kibibyte),
      undecodable('4', 16 * kibibyte),
      sized('5', 16 * kibibyte),
    ])
    const left = async (kibibytes: number) => {
      await rejections.prune({ maxAgeMs: hour, maxBytes: kibibytes * kibibyte })
      expect(await rejections.list()).toHaveLength(5)
      return withCbor()
    }
    expect(await left(84)).toEqual(['5', '4', '3', '2', '1'])
    expect(await left(67)).toEqual(['5', '4', '3', '1'])
    expect(await left(51)).toEqual(['5', '3', '1'])
    expect(await left(35)).toEqual(['5', '3'])
    expect(await left(19)).toEqual(['5'])
    expect(await left(6)).toEqual([])
    expect(await rejections.find('5')).toMatchObject({ hasCbor: false, cborBytes: 16 * kibibyte })
    expect(await rejections.find('5')).not.toHaveProperty('cbor')
  })

  it('keeps CBOR again that is submitted again, if it decodes', async () => {
    const size = 8 * kibibyte
    await rejections.add([sized('1', size), undecodable('2', size)])
    await rejections.prune({ maxAgeMs: hour, maxBytes: 4 * kibibyte })
    expect(await withCbor()).toEqual([])
    await rejections.add([{ ...sized('1', size), submissionId: '3' }])
    await rejections.add([{ ...undecodable('2', size), submissionId: '4' }])
    expect(await withCbor()).toEqual(['3'])
    expect(await rejections.find('4')).toMatchObject({ count: 2, hasCbor: false, cborBytes: size })
  })

  it('limits the reasons to half of the bytes, the oldest first', async () => {
    const details = 'x'.repeat(4_000)
    await rejections.add(Array.from({ length: 40 }, (_, n) => sized(`${n}`, 100, { details })))
    const { submissionsForgotten } = await rejections.prune({ maxAgeMs: hour, maxBytes: 100 * kibibyte })
    expect(submissionsForgotten).toBeGreaterThan(25)
    const { cborBytes, reasonBytes } = await rejections.usage()
    expect(reasonBytes).toBeLessThanOrEqual(50 * kibibyte)
    expect(reasonBytes).toBeGreaterThan(45 * kibibyte)
    expect(cborBytes).toBeGreaterThan(0)
    const kept = (await rejections.list()).map(({ submissionId }) => submissionId)
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, n) => `${39 - n}`))
  })

  it('forgets the oldest submissions of bytes that were submitted very often', async () => {
    const cbor = bytes('the same bytes')
    await rejections.add(Array.from({ length: 2_500 }, (_, n) => newRejection(`${n}`, { cbor })))
    await rejections.prune({ maxAgeMs: hour, maxBytes: 100 * kibibyte })
    expect((await rejections.usage()).reasonBytes).toBeLessThanOrEqual(50 * kibibyte)
    expect(await rejections.find('0')).toBeUndefined()
    expect(await rejections.find('2499')).toMatchObject({ count: 2_500, cbor })
    await rejections.add([newRejection('2500', { cbor })])
    expect(await rejections.find('2500')).toMatchObject({ count: 2_501 })
  })

  it('removes everything if nothing may be kept', async () => {
    await rejections.add(Array.from({ length: 1_200 }, (_, n) => newRejection(`${n}`)))
    await rejections.prune({ maxAgeMs: hour, maxBytes: 0 })
    expect(await rejections.list()).toEqual([])
    expect(await rejections.usage()).toEqual({ cborBytes: 0, reasonBytes: 0 })
  })

  it('is exact while other stores add and prune', async () => {
    const other = await test.another()
    await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const { rejections } = n % 2 === 0 ? test.store : other
        await rejections.add(Array.from({ length: 20 }, (_, m) => sized(`${n} ${m % 15}`, 500 + m)))
        await rejections.prune({ maxAgeMs: hour, maxBytes: 40 * kibibyte })
      }),
    )
    const { cborBytes, reasonBytes } = await rejections.usage()
    expect(cborBytes + reasonBytes).toBeLessThanOrEqual(40 * kibibyte)
  })

  it.each([
    [-1, 0],
    [0, -1],
    [0.5, 0],
    [0, Number.NaN],
    [Number.POSITIVE_INFINITY, 0],
  ])('refuses an age of %d and %d bytes', async (maxAgeMs, maxBytes) => {
    await expect(rejections.prune({ maxAgeMs, maxBytes })).rejects.toMatchObject({
      code: 'STORE_INVALID_ARGUMENT',
    })
  })

  it('keeps its account of bytes over random steps', { timeout: 600_000 }, async () => {
    const letter = fc.record({
      submission: fc.integer({ min: 0, max: 40 }),
      content: fc.integer({ min: 0, max: 12 }),
      size: fc.integer({ min: 32, max: 600 }),
      details: fc.constantFrom(0, 100, 3_000, 9_000),
    })
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ add: fc.array(letter, { maxLength: 12 }) }) },
      { weight: 2, arbitrary: fc.record({ prune: fc.integer({ min: 0, max: 20_000 }) }) },
      { weight: 1, arbitrary: fc.record({ remove: fc.integer({ min: 0, max: 40 }) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
        await rejections.prune({ maxAgeMs: 0, maxBytes: 0 })
        for (const step of steps) {
          if ('add' in step) {
            await rejections.add(
              step.add.map(({ submission, content, size, details }) => {
                const name = `${content} ${content % 3 === 0 ? size : ''}`
                const changes = { submissionId: `${submission}`, details: 'x'.repeat(details) }
                const added = sized(name, 32 + content * 40, changes)
                if (content % 4 !== 0) return added
                const { transactionId: _, ...rejection } = added
                return rejection
              }),
            )
          } else if ('prune' in step) {
            await rejections.prune({ maxAgeMs: hour, maxBytes: step.prune })
            const { cborBytes, reasonBytes } = await rejections.usage()
            expect(cborBytes + reasonBytes).toBeLessThanOrEqual(step.prune)
            expect(reasonBytes).toBeLessThanOrEqual(step.prune / 2)
          } else {
            await rejections.remove(`${step.remove}`)
          }
          await expectExactUsage(test)
          for (const { submissionId, digest } of await rejections.list({ limit: 1_000 })) {
            expect((await rejections.find(submissionId))?.digest).toEqual(digest)
          }
        }
      }),
      { numRuns: 25 },
    )
  })
})
