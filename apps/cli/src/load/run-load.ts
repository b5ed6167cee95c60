import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@ratatosk/client'
import { decodeTransaction, effects, type Utxo } from '@ratatosk/ledger'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import { CommandError } from '../frame/errors.js'
import { manyDevnetFunds, openBuilder, type PaymentBuilder, type SignedPayment } from '../layer2/layer2.js'

interface LoadOptions {
  /** Payments per second. */
  readonly rate: number
  readonly seconds: number
}

/**
 * `waiting`: every chain of payments waited for an answer. `ended`: every chain had spent its funds.
 * `behind`: this program had not sent the payment when the time was over.
 */
export type LateReason = 'waiting' | 'ended' | 'behind'

/** The results of the payments. Times are milliseconds. */
export interface LoadReport {
  /** Those that were answered 200, or not at all before the end. */
  readonly submitted: number
  readonly accepted: number
  /** By the code of the rejection. */
  readonly rejected: Readonly<Record<string, number>>
  /** Payments that could not be built, or that no node answered 200, by the code of the error. */
  readonly failed: Readonly<Record<string, number>>
  /** Without a result when the wait for results ended. */
  readonly pending: number
  /** Payments that were left out. */
  readonly late: number
  /** Why they were left out: how many for each reason. */
  readonly lateBecause: Readonly<Record<LateReason, number>>
  /** Chains of payments, each of which pays again once its payment before is answered. */
  readonly chains: number
  /** From the request to its 200. */
  readonly answerMs: Quantiles
  /** From the request to the event of the acceptance, for which the node looks every 200 ms. */
  readonly acceptedMs: Quantiles
}

/** The first one serves the ledger and events. */
type Nodes = readonly [Client, ...Client[]]

/** Payments each of which spends the change of the one before. */
interface Chain {
  readonly from: WalletKeys
  next: Utxo
}

const paid = 1_000_000n
/** Lovelace that a payment takes from its chain, with its fee. One that cannot pay any more ends. */
const paymentCost = 1_200_000n
/** Lovelace of an output that is split into chains, at least: about 4000 payments. */
const sourceFunds = 5_000_000_000n
/** The least number of outputs that are split, if there are as many chains. */
const leastSources = 16
/** Outputs of a transaction that splits: the rules of layer 2 allow a few more. */
const mostPieces = 40
/** How long a node may take for each answer without a payment that is left out: there are enough chains. */
const answerSeconds = 1
/** How long answers and results are awaited at the end. */
const endMs = 10_000
/** How long, and how often, the first event is awaited. */
const openMs = 3000
/** How long the outputs of the chains are awaited. */
const splitMs = 30_000
const openAttempts = 5

/**
 * Submits payments of the test wallets to themselves at a rate, regardless of the answers.
 *
 * @param clients of nodes of one ledger, which get payments in turn; the first serves the ledger and events
 * @throws CommandError off a devnet, without funds, or if no events arrive
 */
export async function runLoad(clients: Nodes, { rate, seconds }: LoadOptions): Promise<LoadReport> {
  const [client] = clients
  const submit = submitInTurn(clients)
  const builder = await openBuilder(client)
  if (builder.network !== 'devnet')
    throw new CommandError('CLI_NOT_A_DEVNET', 'load pays with the public test wallets: use a devnet.')
  const wanted = rate * answerSeconds
  let idle = await openSources(client, wanted, BigInt(rate * seconds) * paymentCost)
  const results = new Results(client)
  const ending = new AbortController()
  setMaxListeners(0, ending.signal)
  const lateBecause = { waiting: 0, ended: 0, behind: 0 }
  let submitted = 0
  let failed: Record<string, number> = {}
  let answerMs: number[] = []

  function countFailure(error: unknown): void {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    failed[code] = (failed[code] ?? 0) + 1
  }

  /** Answers whether the chain can pay again. */
  async function payFrom(chain: Chain): Promise<boolean> {
    const { from, next: utxo } = chain
    let payment: SignedPayment
    try {
      payment = await builder.pay({ from, utxo, to: from.addressText, lovelace: paid })
    } catch (error) {
      countFailure(error)
      return false
    }
    const { transaction, txHash } = payment
    const begun = performance.now()
    results.expect(txHash, begun)
    submitted++
    try {
      await submit(transaction, ending.signal)
    } catch (error) {
      // Its result may still have come.
      if (ending.signal.aborted) return false
      results.forget(txHash)
      submitted--
      countFailure(error)
      return true
    }
    answerMs.push(performance.now() - begun)
    const change = changeOf(transaction)
    if (change !== undefined) chain.next = change
    return change !== undefined
  }

  const running = new Set<Promise<void>>()
  let chains = 0
  try {
    const [first] = idle
    if (first !== undefined) await openEvents(results, () => payFrom(first))
    idle = await split(idle, Math.ceil(wanted / idle.length), { builder, client, results })
    chains = idle.length
    submitted = 0
    failed = {}
    answerMs = []
    const begun = performance.now()
    const end = begun + seconds * 1000
    for (let n = 0; n < rate * seconds; n++) {
      await sleep(Math.max(0, begun + (n * 1000) / rate - performance.now()))
      if (performance.now() >= end) {
        lateBecause.behind = rate * seconds - n
        break
      }
      const chain = idle.shift()
      if (chain === undefined) {
        lateBecause[running.size > 0 ? 'waiting' : 'ended']++
        continue
      }
      const run = payFrom(chain).then((canPay) => {
        if (canPay) idle.push(chain)
        running.delete(run)
      })
      running.add(run)
    }
    const latest = performance.now() + endMs
    await Promise.race([Promise.all(running), sleep(endMs, undefined, { ref: false })])
    await results.settle(latest - performance.now())
  } finally {
    ending.abort()
    await Promise.allSettled(running)
    await results.close()
  }
  const { acceptedMs, rejected, pending } = results
  const times = { answerMs: quantilesOf(answerMs), acceptedMs: quantilesOf(acceptedMs) }
  const late = Object.values(lateBecause).reduce((sum, each) => sum + each, 0)
  const count = { submitted, accepted: acceptedMs.length, rejected, failed, pending }
  return { ...count, late, lateBecause, chains, ...times }
}

/**
 * Submits to the nodes in turn, each transaction to the first one that answers: it takes effect once. The
 * error is that of the last one.
 */
function submitInTurn(clients: Nodes) {
  let attempts = 0
  return async (transaction: string, signal: AbortSignal): Promise<void> => {
    const first = attempts++
    let failure: unknown
    for (const n of clients.keys()) {
      try {
        await clients[(first + n) % clients.length]?.submit(transaction, { retries: 0, signal })
        return
      } catch (error) {
        failure = error
        if (signal.aborted) break
      }
    }
    throw failure
  }
}

/** Pays until a result arrives: then the stream of events is open. */
async function openEvents(results: Results, pay: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < openAttempts; attempt++) {
    await pay()
    const expected = results.pending
    await results.settle(openMs)
    if (results.pending < expected) return results.reset()
  }
  throw notAccepted()
}

const notAccepted = (): CommandError =>
  new CommandError('CLI_NO_EVENTS', 'No payment was accepted: check the node with `ratatosk status`.')

/**
 * The outputs that are split into chains.
 *
 * @param lovelace that all payments together take
 */
async function openSources(client: Client, chains: number, lovelace: bigint): Promise<Chain[]> {
  const least = Math.max(leastSources, Math.ceil(chains / mostPieces), Number(lovelace / sourceFunds) + 1)
  const funds = await manyDevnetFunds(client, sourceFunds, Math.min(chains, least))
  if (funds.length > 0) return funds.map(({ from, utxo }) => ({ from, next: utxo }))
  throw new CommandError(
    'CLI_NO_FUNDS',
    `No test wallet has an output of ${sourceFunds / 1_000_000n} ada: an empty DATA_DIR begins anew.`,
  )
}

interface SplitContext {
  readonly builder: PaymentBuilder
  readonly client: Client
  readonly results: Results
}

/**
 * Splits each output into equal parts, and waits until they are accepted.
 *
 * @param parts of each
 */
async function split(
  sources: readonly Chain[],
  parts: number,
  { builder, client, results }: SplitContext,
): Promise<Chain[]> {
  const pieces = Math.min(parts, mostPieces)
  if (pieces <= 1) return [...sources]
  const chains: Chain[] = []
  for (const { from, next: utxo } of sources) {
    const lovelace = utxo.output.value.lovelace / BigInt(pieces)
    const to = from.addressText
    const { transaction, txHash } = await builder.pay({ from, utxo, to, lovelace, count: pieces - 1 })
    results.expect(txHash, performance.now())
    await client.submit(transaction)
    for (const next of producedBy(transaction)) chains.push({ from, next })
  }
  await results.settle(splitMs)
  if (results.acceptedMs.length < sources.length) throw notAccepted()
  results.reset()
  return chains
}

/** The output that a payment returns to its payer; undefined if all that was left is the fee. */
const changeOf = (transaction: string): Utxo | undefined => producedBy(transaction)[1]

const producedBy = (transaction: string): readonly Utxo[] =>
  effects(decodeTransaction(Buffer.from(transaction, 'hex'))).produced

/** Of a list of times; 0 if it is empty. */
interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

/** The nearest-rank quantiles of a list, rounded to whole numbers. */
export function quantilesOf(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (share: number) => Math.round(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0)
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}

const pollMs = 20

/** The results of transactions that are expected, as `/events` reports them. */
class Results {
  readonly #abort = new AbortController()
  /** When each was submitted, by hash. */
  readonly #expected = new Map<string, number>()
  readonly #ended: Promise<void>
  #failure: unknown
  acceptedMs: number[] = []
  /** By the code of the rejection. */
  rejected: Record<string, number> = {}

  constructor(client: Client) {
    this.#ended = this.#follow(client).catch((error: unknown) => {
      if (!this.#abort.signal.aborted) this.#failure = error
    })
  }

  get pending(): number {
    return this.#expected.size
  }

  /** @param at of `performance.now()` */
  expect(txHash: string, at: number): void {
    this.#expected.set(txHash, at)
  }

  forget(txHash: string): void {
    this.#expected.delete(txHash)
  }

  reset(): void {
    this.#expected.clear()
    this.acceptedMs = []
    this.rejected = {}
  }

  /** Waits until every expected transaction has a result, or the time is over. @throws the stream's error */
  async settle(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (this.pending > 0 && performance.now() < deadline) {
      if (this.#failure !== undefined) throw this.#failure
      await sleep(pollMs)
    }
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#ended
  }

  async #follow(client: Client): Promise<void> {
    const { signal } = this.#abort
    for await (const event of client.streamEvents({ type: 'accepted,rejected' }, { signal })) {
      if (event.type !== 'accepted' && event.type !== 'rejected') continue
      const { txHash = '' } = event.data
      const submittedAt = this.#expected.get(txHash)
      if (submittedAt === undefined) continue
      this.#expected.delete(txHash)
      if (event.type === 'accepted') this.acceptedMs.push(performance.now() - submittedAt)
      else this.rejected[event.data.code] = (this.rejected[event.data.code] ?? 0) + 1
    }
  }
}
