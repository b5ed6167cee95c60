import { PGlite } from '@electric-sql/pglite'
import { createBlockfrostLayer1 } from '@ratatosk/layer1'
import { createSubmissionQueue, openQueueBackend } from '@ratatosk/queue'
import { openStore } from '@ratatosk/store'
import { databaseUrl, documentFees, redisUrl, slots } from '@ratatosk/test-kit'
import { createValidationWorker } from '../../index.js'
import {
  createFaucetPayer,
  createLayer1FaucetWallet,
  createLayer2FaucetWallet,
  type FaucetWallet,
} from '../index.js'
import { claimant, faucetKeys } from './wallets.js'

export interface Claiming {
  /** Schema of the store and prefix of the queue. */
  readonly name: string
  /** Directory of a PGlite; without it the process uses PostgreSQL and Redis. */
  readonly directory?: string
  /** URL of layer 1; without it the faucet pays on layer 2. */
  readonly blockfrost?: string
  readonly claimants: readonly number[]
  /** When the process kills itself: before a payment is built, sent, or recorded as sent. */
  readonly dies?: 'unprepared' | 'unsent' | 'unrecorded'
}

const { name, directory, blockfrost, claimants, dies }: Claiming = JSON.parse(process.argv[2] ?? '')

async function openParts() {
  if (directory === undefined) {
    return {
      store: await openStore({ url: databaseUrl, schema: name, maxConnections: 4 }),
      queue: await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name }),
    }
  }
  const pglite = await PGlite.create(directory)
  return {
    store: await openStore({ pglite, schema: name }),
    queue: await openQueueBackend({ kind: 'pglite', pglite }),
  }
}

const { store, queue } = await openParts()

async function openWallet(): Promise<FaucetWallet> {
  const keys = faucetKeys
  if (blockfrost !== undefined) {
    const layer1 = createBlockfrostLayer1({ url: blockfrost, networkMagic: 42 })
    return createLayer1FaucetWallet({ layer1, keys })
  }
  const parameters = documentFees
  const worker = createValidationWorker({
    queue,
    store,
    parameters,
    networkId: 0,
    slots,
    lockDurationMs: 500,
  })
  await worker.ready()
  const submissions = createSubmissionQueue(queue)
  return createLayer2FaucetWallet({ store, submissions, keys, parameters, slots })
}

/** Never returns; nothing is closed or flushed. */
async function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}

const wallet = await openWallet()
let reserved = 0
let allReserved = () => {}
const reservations = new Promise<void>((resolve) => {
  allReserved = resolve
})
const payer = createFaucetPayer({
  claims: {
    ...store.faucetClaims,
    async reserve(request) {
      const reservation = await store.faucetClaims.reserve(request)
      if (++reserved === claimants.length) allReserved()
      return reservation
    },
  },
  leaseMs: 1000,
  wallet: {
    prepare: (draft) => (dies === 'unprepared' ? reservations.then(die) : wallet.prepare(draft)),
    async send(payment) {
      if (dies === 'unsent') return die()
      const sending = await wallet.send(payment)
      return dies === 'unrecorded' ? die() : sending
    },
    status: (payment) => wallet.status(payment),
  },
})
for (const number of claimants) {
  const { bytes: address } = claimant(number).address
  payer
    .claim({ idempotencyKey: `key ${number}`, address, ipHash: `ip ${number}` })
    .then(() => process.send?.(number), console.error)
}
setInterval(() => {}, 60_000)
