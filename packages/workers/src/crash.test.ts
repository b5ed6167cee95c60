import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createSubmissionQueue, defaultLockMs, submissionQueueName } from '@ratatosk/queue'
import { chain, fundsOf, keyOf, type SignedTransaction, signed } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import {
  allRejections,
  countAccepted,
  drained,
  historyOf,
  isAccepted,
  openers,
  run,
  shuffled,
} from './test/running-worker.js'

const rounds = Number(process.env.RATATOSK_CRASH_ROUNDS ?? 5)
const perRound = 200
const ada = 1_000_000n
const program = fileURLToPath(new URL('../dist/test/validation-process.js', import.meta.url))

async function startProcess(name: string) {
  const child = fork(program, [name], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [message] = await once(child, 'message')
  expect(message).toBe('ready')
  return child
}

test(`a worker killed ${rounds} times loses nothing and applies nothing twice`, {
  timeout: 60_000 + rounds * 10_000,
}, async (context) => {
  const { store, queue, name } = await openers['PostgreSQL and Redis'](context)
  const key = keyOf(5)
  const funds = fundsOf(key, rounds * 10, 10n * ada)
  await store.applyGenesis(funds)
  const submissions = createSubmissionQueue(queue)
  const submitted: { id: string; transaction: SignedTransaction }[] = []
  const valid = new Set<string>()
  const heads: SignedTransaction[] = []
  const invalid: SignedTransaction[] = []
  let killedWhileActive = 0

  for (let round = 0; round < rounds; round++) {
    const child = await startProcess(name)
    const inputs = funds.slice(round * 10, round * 10 + 10).map(({ reference }) => reference)
    const chains = inputs.map((input) => chain(key, input, 10n * ada, perRound / 10))
    const links = chains.flat()
    for (const { cbor } of links) valid.add(Buffer.from(cbor).toString('hex'))
    heads.push(...chains.map(([head]) => head!))
    // One in five is permanently invalid, and every tenth valid one is submitted twice.
    const overdrawn = Array.from({ length: perRound / 5 }, (_, n) =>
      signed(key, { inputs: [inputs[n % 10]!], outputs: [BigInt(100 + n + round * perRound) * ada] }),
    )
    invalid.push(...overdrawn)
    const load = shuffled([...links, ...overdrawn, ...links.filter((_, n) => n % 10 === 0)], round + 1)
    const sending = Promise.all(
      load.map(async (transaction) => {
        submitted.push({ id: await submissions.add(transaction.cbor), transaction })
      }),
    )
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 250))
    child.kill('SIGKILL')
    await once(child, 'exit')
    await sending
    if ((await submissions.jobs.getActiveCount()) > 0) killedWhileActive++
  }

  const last = await startProcess(name)
  await drained(submissions)
  last.kill('SIGKILL')
  await once(last, 'exit')

  const rejections = await allRejections(store)
  const rejected = new Set(rejections.map(({ submissionId }) => submissionId))
  for (const { id, transaction } of submitted) {
    expect([await isAccepted(store, transaction), rejected.has(id)]).toContain(true)
    expect((await isAccepted(store, transaction)) && rejected.has(id)).toBe(false)
  }
  const history = (await historyOf(store, key.address)).map((cbor) => Buffer.from(cbor).toString('hex'))
  expect(new Set(history).size).toBe(history.length)
  expect(history.filter((cbor) => !valid.has(cbor))).toEqual([])
  // Their inputs exist from the start. Later links may run out of attempts while the workers that hold
  // earlier links are killed again and again.
  expect(await countAccepted(store, heads)).toBe(heads.length)
  // They were validated before or after their input was spent.
  const codes = new Set(rejections.map(({ code }) => code))
  expect(['ValueNotConservedUTxO', 'BadInputsUTxO']).toEqual(expect.arrayContaining([...codes]))
  expect(await countAccepted(store, invalid)).toBe(0)
  expect(submitted).toHaveLength(rounds * perRound * 1.3)
  // Otherwise no worker held a delivery when it was killed, and the test would prove nothing.
  expect(killedWhileActive).toBeGreaterThan(0)
})

test.for(Object.entries(openers))(
  'those that need the outputs of what a killed worker held are not rejected (%s)',
  { timeout: 60_000 },
  async ([, open], context) => {
    const services = await open(context)
    const { store, queue } = services
    const key = keyOf(5)
    const [fund] = fundsOf(key, 1, 10n * ada)
    await store.applyGenesis([fund!])
    const [parent, ...children] = chain(key, fund!.reference, 10n * ada, 5)
    const submissions = createSubmissionQueue(queue)
    await submissions.add(parent!.cbor)
    let isTaken = false
    // A killed process renews no lock.
    const times = { lockDuration: defaultLockMs, stalledInterval: defaultLockMs / 3 }
    const options = { ...times, lockRenewTime: 600_000, concurrency: 1 }
    const killed = queue.worker(
      submissionQueueName,
      () => {
        isTaken = true
        return new Promise<void>(() => undefined)
      },
      options,
    )
    await expect.poll(() => isTaken, { timeout: 10_000 }).toBe(true)
    for (const { cbor } of children) await submissions.add(cbor)
    await killed.close(true)
    run(services)
    await expect.poll(() => isAccepted(store, children.at(-1)!), { timeout: 30_000 }).toBe(true)
    expect(await allRejections(store)).toEqual([])
  },
)
