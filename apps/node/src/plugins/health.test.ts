import { Layer1Error } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import { QueueError } from '@ratatosk/queue'
import { StoreError } from '@ratatosk/store'
import { expect, test } from 'vitest'
import { about } from '../check/checks.js'
import {
  answered,
  checkArchive,
  checkClock,
  checkCommits,
  checkFollowing,
  checkQuestions,
  checkQueue,
  checkWatcher,
  fullDisk,
  outage,
  watchQueue,
} from './health.js'

test.each([50, 1000, 20_000])('a tip is ahead of the clock only in the future, with slots of %i ms', (ms) => {
  const zeroTime = 1_700_000_000_000n
  const slots = { zeroTime, zeroSlot: 7n, slotLength: ms }
  const at = (aheadMs: number) => () => {
    const passed = 86_400_000
    const slot = 7n + BigInt(Math.floor((passed + aheadMs) / ms))
    checkClock({ slot }, slots, Number(zeroTime) + passed)
  }
  for (const ahead of [-3_600_000, -1, 0, ms, 30_000]) expect(at(ahead)).not.toThrow()
  expect(at(3_600_000)).toThrow(/^layer 1's tip is 3600 s ahead of this machine's clock/)
})

test('commits that layer 1 does not include are explained', () => {
  expect(() => checkCommits(undefined)).not.toThrow()
  expect(() => checkCommits(24_700)).toThrow(
    expect.objectContaining({
      code: 'HEALTH_NOT_READY',
      message: expect.stringMatching(
        /^Layer 1 has included no commit for 25 s, longer than one is valid: check/,
      ),
    }),
  )
})

test('questions without an answer are explained', () => {
  const questions = { open: 1, firstDeadline: 1_700_000_000_000n, sent: 0, unanswered: [], unread: [] }
  expect(() => checkQuestions(undefined, 0)).not.toThrow()
  expect(() => checkQuestions(questions, 0)).not.toThrow()
  expect(() => checkQuestions({ ...questions, open: 2, firstDeadline: 1000n }, 999)).not.toThrow()
  expect(() => checkQuestions({ ...questions, open: 2, firstDeadline: 1000n }, 1000)).toThrow(
    'Questions without an answer: 2; the first was due at 1970-01-01T00:00:01.000Z',
  )
  const reference = { transactionId: new Uint8Array(32), index: 3 }
  const unread = [{ reference } as Utxo]
  expect(() => checkQuestions({ ...questions, unread }, 0)).toThrow(
    expect.objectContaining({
      code: 'HEALTH_NOT_READY',
      message: expect.stringMatching(
        /^Layer 1 has questions that this program does not read, .*1; .* 0+#3\./,
      ),
    }),
  )
  const missed = { output: 'ab#0', height: 7n, deadline: 1_700_000_000_000n, reason: 'No space is left' }
  expect(() => checkQuestions({ ...questions, unanswered: [missed] }, 0)).toThrow(
    expect.objectContaining({
      code: 'HEALTH_NOT_READY',
      message: expect.stringMatching(/about block 7 and due at 2023-11-14T22:13:20.000Z: No space is left$/),
    }),
  )
})

test('a block of another operator that cannot be adopted is explained', () => {
  for (const fault of [undefined, null, { code: 'SEQUENCER_NOT_IN_TURN', message: 'Wait' } as const])
    expect(() => checkQueue(fault)).not.toThrow()
  const code = 'SEQUENCER_INVALID_BLOCK'
  expect(() => checkQueue({ code, message: 'It holds block ab' })).toThrow(
    expect.objectContaining({ code: 'HEALTH_NOT_READY', message: `${code}: It holds block ab` }),
  )
})

test('a deployment that cannot begin is explained, and one that has not begun is ready', () => {
  const fresh = { code: 'SEQUENCER_NOT_INITIALISED', message: 'Layer 1 has no root unit' } as const
  expect(() => checkQueue(fresh, 3_600_000)).not.toThrow()
  const fault = { code: 'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT', message: 'The output ab#0 is spent' } as const
  expect(() => checkQueue(fault)).toThrow(
    expect.objectContaining({ code: 'HEALTH_NOT_READY', message: `${fault.code}: ${fault.message}` }),
  )
})

test('a lack of ada is explained once it has lasted', () => {
  const fault = { code: 'SEQUENCER_INSUFFICIENT_FUNDS', message: 'The wallet lacks 5 lovelace' } as const
  for (const ms of [undefined, 0, 120_000]) expect(() => checkQueue(fault, ms)).not.toThrow()
  expect(() => checkQueue(fault, 120_001)).toThrow(
    expect.objectContaining({ code: 'HEALTH_NOT_READY', message: `${fault.code}: ${fault.message}` }),
  )
})

test('a layer 1 that fails, or does not answer, is explained', async () => {
  const settings = (HEALTH_PROBE_TIMEOUT_MS: number) =>
    ({ HEALTH_PROBE_TIMEOUT_MS, LAYER1_PROVIDER: 'blockfrost', NETWORK: 'devnet' }) as const
  const never = new Promise<number>(() => undefined)
  const away = Promise.reject(new Layer1Error('LAYER1_PROVIDER_ERROR', 'Blockfrost answered 500'))
  const occupied = 'DEVNET_PORT is 1337: another process listens on this port.'
  const notReady = (message: string) => expect.objectContaining({ code: 'HEALTH_NOT_READY', message })
  expect(await answered(Promise.resolve(7), settings(1000), () => occupied)).toBe(7)
  await expect(answered(away, settings(1000))).rejects.toEqual(notReady('Blockfrost answered 500'))
  await expect(answered(never, settings(10))).rejects.toEqual(notReady('Layer 1 does not answer in time'))
  await expect(answered(never, settings(10), () => occupied)).rejects.toEqual(notReady(occupied))
  const refused = new Layer1Error('LAYER1_UNREACHABLE', 'Blockfrost cannot be reached (ECONNREFUSED)')
  await expect(answered(Promise.reject(refused), settings(1000))).rejects.toThrow(
    /\(ECONNREFUSED\)\. Start it, or correct BLOCKFROST_URL: .* moves the devnet\.$/,
  )
  const database = new StoreError('STORE_UNAVAILABLE', 'db.example')
  const shared = { ...settings(1000), LAYER1_PROVIDER: 'devnet', DATABASE_URL: 'postgres://db' } as const
  await expect(answered(Promise.reject(database), shared)).rejects.toEqual(
    notReady('The database does not answer: start PostgreSQL, or correct DATABASE_URL'),
  )
  const cause = new TypeError('x is not a function')
  await expect(answered(Promise.reject(cause), settings(1000))).rejects.toBe(cause)
})

test('submissions that no process takes are told once, with the queue', async () => {
  let now = 1_000_000
  let oldestAt: Date | undefined
  const told: string[] = []
  const settings = { REDIS_URL: 'redis://127.0.0.1', QUEUE_PREFIX: 'other', DATABASE_SCHEMA: 'ratatosk' }
  const log = { warn: (_: object, message: string) => told.push(message) }
  const queue = watchQueue(
    async () => oldestAt,
    settings,
    () => now,
    log,
  )
  const afterMs = async (ms: number) => {
    now += ms
    await queue.look()
    return queue.longMs()
  }
  expect(await afterMs(0)).toBe(0)
  oldestAt = new Date(now)
  expect(await afterMs(60_000)).toBe(0)
  expect(await afterMs(5_000)).toBe(65_000)
  expect(await afterMs(5_000)).toBe(70_000)
  expect(told).toEqual([expect.stringMatching(/^A submission has waited 65 s .*QUEUE_PREFIX other/)])
  oldestAt = undefined
  expect(await afterMs(0)).toBe(0)
})

test('what a watcher cannot do is explained', () => {
  const unprovable = { headerHash: new Uint8Array(28), height: 7n, reason: 'A script fails' }
  expect(() => checkWatcher({ trouble: 'There is no connection' })).not.toThrow()
  for (const [status, message] of [
    [{ unprovable }, /^no fraud proof removes block 7: A script fails$/],
    [{ unread: 'Layer 1 has questions' }, /^Layer 1 has questions$/],
    [{ lack: 'The wallet lacks 5 ada' }, /^the watcher cannot pay: The wallet lacks 5 ada$/],
    [{ trouble: 'It ends', troubleMs: 130_000 }, /^the watcher fails: It ends$/],
  ] as const)
    expect(() => checkWatcher(status)).toThrow(
      expect.objectContaining({ code: 'HEALTH_NOT_READY', message: expect.stringMatching(message) }),
    )
})

test('a full disk is explained, and nothing else', () => {
  const full = new StoreError('STORE_UNAVAILABLE', 'No space is left', { sqlState: '53100' })
  expect(fullDisk(full)).toBe('No space is left')
  const cause = new Error('MISCONF Errors writing to the AOF file: No space left on device')
  const unavailable = new QueueError('QUEUE_UNAVAILABLE', 'The queue backend does not respond', { cause })
  expect(fullDisk(unavailable)).toMatch(/^Redis cannot write to its disk \(MISCONF\)/)
  expect(fullDisk(new StoreError('STORE_UNAVAILABLE', 'unreachable', { cause: new Error('x') }))).toBe(
    undefined,
  )
  expect(fullDisk('text')).toBe(undefined)
})

test('a service that does not answer has a reason', () => {
  const settings = { DATABASE_URL: 'postgres://db.example', REDIS_URL: 'redis://queue.example' }
  const away = [new StoreError('STORE_UNAVAILABLE', 'db.example'), new QueueError('QUEUE_UNAVAILABLE', 'x')]
  expect(away.map((error) => outage(error, settings))).toEqual([
    'The database does not answer: start PostgreSQL, or correct DATABASE_URL',
    'The queue does not answer: start Redis, or correct REDIS_URL',
  ])
  expect(outage(away[0], settings, 'DATABASE_READ_URL')).toBe(
    'The replica does not answer: start PostgreSQL, or correct DATABASE_READ_URL',
  )
  expect(outage(away[0], {})).toBe('The database does not answer')
  expect(outage(new QueueError('QUEUE_LEDGER_CONFLICT', 'another ledger'), settings)).toBe('another ledger')
  for (const error of [new StoreError('STORE_FAILED', 'x'), new Error('x')])
    expect(outage(error, settings)).toBe(undefined)
})

test('an archivist that never followed a block is not ready, and names wrong peers', async () => {
  const trouble = 'No peer has the body of block 1'
  const none = { height: 0n, trouble }
  const { ok, failed } = about('peers')
  const check = (status: Parameters<typeof checkArchive>[0], findings = [ok('a')]) =>
    checkArchive(status, async () => findings)
  await expect(check(none)).rejects.toThrow(`no block could be followed yet: ${trouble}`)
  const both = [failed('b is no archivist. Start it.'), failed('c does not answer. Start it.')]
  await expect(check(none, both)).rejects.toThrow(
    `no block could be followed yet: ${trouble}. b is no archivist. Start it. c does not answer. Start it`,
  )
  await check(undefined)
  await check({ height: 0n })
  await check({ ...none, height: 1n })
  await check({ ...none, syncedAt: new Date(0) })
})

test('a watcher that has followed no block for long is not ready', () => {
  const trouble = 'No peer has a header that leads to the newest block'
  const [openedAt, now] = [1_000_000, 1_130_000]
  expect(() => checkFollowing(undefined, now, openedAt)).not.toThrow()
  expect(() => checkFollowing({}, now, openedAt)).not.toThrow()
  expect(() => checkFollowing({ trouble }, 1_110_000, openedAt)).not.toThrow()
  expect(() => checkFollowing({ trouble, syncedAt: new Date(1_100_000) }, now, openedAt)).not.toThrow()
  expect(() => checkFollowing({ trouble }, now, openedAt)).toThrow(`the blocks are not followed: ${trouble}`)
  const syncedAt = new Date(1_005_000)
  expect(() => checkFollowing({ trouble, syncedAt }, now, openedAt)).toThrow(/not followed/)
})
