import { blake2b256 } from '@ratatosk/ledger'
import { describe, expect, test } from 'vitest'
import { createSubmissionQueue, createSubmissionWorker, type Disposition } from '../index.js'
import { openers } from '../test/backends.js'

const cbor = Buffer.from('84a0a0f5f6', 'hex')
const transactionId = blake2b256(Buffer.from('a0', 'hex'))

describe.each(Object.entries(openers))('submissions on %s', (_kind, open) => {
  test('are queued, then validating until their verdict, then have left', async (context) => {
    const { backend, again } = await open(context)
    const submissions = createSubmissionQueue(backend)
    const id = await submissions.add(cbor)
    const waiting = {
      state: 'queued',
      cbor: new Uint8Array(cbor),
      submittedAt: expect.any(Date),
      attempts: 0,
    }
    expect(await submissions.find(id)).toEqual({ ...waiting, transactionId })
    expect(await submissions.findTransaction(transactionId)).toEqual({ ...waiting, transactionId })
    expect(await submissions.find(id)).toMatchObject({ submittedAt: await submissions.oldestAt() })

    let decide: (disposition: Disposition) => void = () => undefined
    let deliveries = 0
    createSubmissionWorker(
      backend,
      () => {
        deliveries++
        return new Promise((resolve) => {
          decide = resolve
        })
      },
      { concurrency: 1 },
    )
    await expect.poll(() => deliveries).toBe(1)
    const elsewhere = createSubmissionQueue(await again())
    expect(await elsewhere.find(id)).toMatchObject({ state: 'validating', attempts: 0 })
    expect(await elsewhere.findTransaction(transactionId)).toMatchObject({ state: 'validating' })
    for (const kind of ['later', 'again'] as const) {
      const before = deliveries
      decide({ kind, afterMs: 300 })
      await expect
        .poll(
          async () => {
            expect(await elsewhere.find(id), kind).toMatchObject({ state: 'validating' })
            expect(await elsewhere.findTransaction(transactionId), kind).toMatchObject({
              state: 'validating',
            })
            return deliveries
          },
          { timeout: 10_000 },
        )
        .toBe(before + 1)
    }
    decide({ kind: 'done' })
    await expect.poll(() => elsewhere.find(id)).toEqual({ state: 'left', transactionId })
    expect(await elsewhere.findTransaction(transactionId)).toBeUndefined()
    expect(await elsewhere.oldestAt()).toBeUndefined()
  })

  test('are found by their transactions, of which the furthest counts', async (context) => {
    const { backend } = await open(context)
    const submissions = createSubmissionQueue(backend)
    const numbered = (n: number) => Buffer.from(`84a10019${n.toString(16).padStart(4, '0')}a0f5f6`, 'hex')
    const idOf = (n: number) => blake2b256(numbered(n).subarray(1, 6))
    // Several jobs, with what is no transaction in between, and one transaction three times.
    const many = Array.from({ length: 600 }, (_, n) => (n % 7 === 3 ? Buffer.from('00', 'hex') : numbered(n)))
    await Promise.all([...many, numbered(1), numbered(1)].map((each) => submissions.add(each)))
    for (const n of [0, 1, 64, 254, 256, 300, 599]) {
      const found = await submissions.findTransaction(idOf(n))
      expect(found, `${n}`).toMatchObject({ state: 'queued', cbor: new Uint8Array(numbered(n)), attempts: 0 })
    }
    expect(await submissions.findTransaction(idOf(600))).toBeUndefined()

    let isFirst = true
    const settled: Buffer[] = []
    const worker = createSubmissionWorker(
      backend,
      async ({ cbor: each }) => {
        // One copy of transaction 1 waits for its next delivery, alone in a job; the others are done.
        if (isFirst && numbered(1).equals(each)) {
          isFirst = false
          return { kind: 'later', afterMs: 3_600_000 }
        }
        settled.push(Buffer.from(each))
        return { kind: 'done' }
      },
      { concurrency: 700 },
    )
    await expect.poll(() => settled.length).toBe(many.length + 1)
    await expect.poll(() => submissions.findTransaction(idOf(0))).toBeUndefined()
    await expect.poll(() => submissions.findTransaction(idOf(599))).toBeUndefined()
    expect(await submissions.findTransaction(idOf(1))).toMatchObject({ state: 'validating', attempts: 0 })
    await worker.close()
  })

  test('are not found under what is no id, whatever the backend keeps under it', async (context) => {
    const submissions = createSubmissionQueue((await open(context)).backend)
    await submissions.add(cbor)
    for (const text of [
      '',
      '1',
      'meta',
      'wait',
      'id',
      'events',
      'stalled-check',
      '../x',
      `${'x'.repeat(99)}`,
      "' OR ''='",
    ]) {
      expect(await submissions.find(text), text).toBeUndefined()
    }
    expect(await submissions.find(`AAAAAAAAAAAA.0.1.1.0.${'A'.repeat(43)}`)).toMatchObject({ state: 'left' })
  })

  test('whose bytes are no transaction have no transaction id', async (context) => {
    const submissions = createSubmissionQueue((await open(context)).backend)
    for (const hex of ['00', '80', '84', '8300a0f5', '83a0a0f5', '8400a0f5f6', '84a1']) {
      const id = await submissions.add(Buffer.from(hex, 'hex'))
      const found = await submissions.find(id)
      expect(found).toMatchObject({ state: 'queued' })
      expect(found, hex).not.toHaveProperty('transactionId')
    }
  })
})
