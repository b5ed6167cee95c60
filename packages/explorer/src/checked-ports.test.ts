import { expect, onTestFinished, test, vi } from 'vitest'
import { blockAnswers } from './blocks.js'
import { checkedPorts } from './checked-ports.js'
import { overviewAnswer } from './overview.js'
import { createRates } from './rates.js'
import { options, timedBlock } from './test/ports.js'

const never = () => new Promise<never>(() => undefined)

test('a queue may answer at once; what it gives wrongly is named, and harms no later answer', async () => {
  let given: unknown
  const overview = overviewAnswer(checkedPorts({ ...options, queue: { waiting: () => given as never } }))
  const message = 'queue.waiting() must resolve to { transactions, bytes, oldestAt }: Expected object'
  await expect(overview()).rejects.toThrow(message)
  given = { transactions: 3, bytes: 300 }
  expect((await overview()).queue).toEqual(given)
})

test('results of another shape are named by port and field', async () => {
  const { reads, ledger, layer1 } = checkedPorts({
    ...options,
    reads: { ...options.reads, block: async () => ({ ...timedBlock(1n, 2), builtAt: 5 }) as never },
    ledger: { ...options.ledger, mempool: async () => ({ transactions: '1', bytes: 0 }) as never },
    layer1: { tip: never, wallet: async () => ({ address: 'addr', lovelace: -1n }) },
  })
  await expect(reads.block(1n)).rejects.toThrow(
    'reads.block() must resolve to a TimedBlock or undefined: builtAt: Expected Date',
  )
  await expect(ledger.mempool(1)).rejects.toThrow(/ledger\.mempool\(\) must resolve to .*: transactions: /)
  await expect(layer1?.wallet()).rejects.toThrow('lovelace: Expected bigint to be greater or equal to 0')
})

test('calls that never end are 503, and end the wait of those after them', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const hung = { isHung: true }
  const perhaps = async <T>(result: T): Promise<T> => (hung.isHung ? never() : result)
  const ports = checkedPorts({
    ...options,
    reads: { ...options.reads, blocks: () => perhaps([]) },
    ledger: { ...options.ledger, head: () => perhaps({ accepted: 0n, rejected: 0n }) },
  })
  const [blocks, rates, overview] = [blockAnswers(ports), createRates(ports), overviewAnswer(ports)]
  const ask = () => [
    rates.answer(1),
    overview(),
    ...Array.from({ length: 4 }, () => blocks.list({ before: undefined, limit: 1 })),
  ]
  const asked = Promise.allSettled(ask())
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await asked).toMatchObject(Array(6).fill({ reason: { code: 'STORE_UNAVAILABLE' } }))
  hung.isHung = false
  await Promise.all(ask())
})
