import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@ratatosk/client'
import { decodeTransaction, effects, type Utxo } from '@ratatosk/ledger'
import type { WalletKeys } from '@ratatosk/transaction'
import { CommandError } from '../frame/errors.js'
import { devnetFunds, openBuilder, type SignedPayment } from '../layer2/layer2.js'
import { type Quantiles, quantilesOf } from './quantiles.js'
import { Results } from './results.js'

/** How much is submitted, and for how long. */
interface LoadOptions {
  /** Payments per second. */
  readonly rate: number
  readonly seconds: number
}

/** What came of the payments. Times are milliseconds. */
export interface LoadReport {
  readonly submitted: number
  readonly accepted: number
  /** By the code of the rejection. */
  readonly rejected: Readonly<Record<string, number>>
  /** Payments that could not be built, or were not answered 200, by the code of the error. */
  readonly failed: Readonly<Record<string, number>>
  /** Without a result when the wait for results ended. */
  readonly pending: number
  /** Payments that were left out, because every chain of payments waited for an answer or had ended. */
  readonly late: number
  /** From the request to its 200. */
  readonly answerMs: Quantiles
  /** From the request to the event of the acceptance, for which the node looks every 200 ms. */
  readonly acceptedMs: Quantiles
}

/** Payments each of which spends the change of the one before. */
interface Chain {
  readonly from: WalletKeys
  next: Utxo
}

const paid = 1_000_000n
/** Lovelace with which a chain begins at least: about 4000 payments. One that cannot pay any more ends. */
const chainFunds = 5_000_000_000n
/** Submissions at a time. */
const mostChains = 16
/** How long results are awaited at the end. */
const resultsMs = 30_000
/** How long, and how often, the first event is awaited. */
const openMs = 3000
const openAttempts = 5

/**
 * Submits payments of the devnet's test wallets to themselves at a rate, whatever the node answers.
 *
 * @throws CommandError if the node is not on a devnet, the wallets have no funds, or no events arrive
 */
export async function runLoad(client: Client, { rate, seconds }: LoadOptions): Promise<LoadReport> {
  const builder = await openBuilder(client)
  if (builder.network !== 'devnet')
    throw new CommandError('CLI_NOT_A_DEVNET', 'load pays with the public test wallets: use a devnet.')
  const idle = await openChains(client, Math.min(mostChains, rate))
  const results = new Results(client)
  const count = { submitted: 0, late: 0 }
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
    count.submitted++
    try {
      await client.submit(transaction, { retries: 0 })
    } catch (error) {
      results.forget(txHash)
      countFailure(error)
      return true
    }
    answerMs.push(performance.now() - begun)
    const change = changeOf(transaction)
    if (change !== undefined) chain.next = change
    return change !== undefined
  }

  const running = new Set<Promise<void>>()
  try {
    const [first] = idle
    if (first !== undefined) await openEvents(results, () => payFrom(first))
    count.submitted = 0
    failed = {}
    answerMs = []
    const begun = performance.now()
    for (let n = 0; n < rate * seconds; n++) {
      await sleep(Math.max(0, begun + (n * 1000) / rate - performance.now()))
      const chain = idle.shift()
      if (chain === undefined) {
        count.late++
        continue
      }
      const run = payFrom(chain).then((canPay) => {
        if (canPay) idle.push(chain)
        running.delete(run)
      })
      running.add(run)
    }
    await Promise.all(running)
    await results.settle(resultsMs)
  } finally {
    await Promise.allSettled(running)
    await results.close()
  }
  const { acceptedMs, rejected, pending } = results
  const times = { answerMs: quantilesOf(answerMs), acceptedMs: quantilesOf(acceptedMs) }
  return { ...count, accepted: acceptedMs.length, rejected, failed, pending, ...times }
}

/** Pays until a result arrives: then the stream of events is open. */
async function openEvents(results: Results, pay: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < openAttempts; attempt++) {
    await pay()
    const expected = results.pending
    await results.settle(openMs)
    if (results.pending < expected) return results.reset()
  }
  throw new CommandError('CLI_NO_EVENTS', 'No payment was accepted: check the node with `ratatosk status`.')
}

async function openChains(client: Client, wanted: number): Promise<Chain[]> {
  const chains = new Map<string, Chain>()
  // Funds are drawn at random, and may be drawn twice.
  for (let draw = 0; draw < 4 * wanted && chains.size < wanted; draw++) {
    const funds = await devnetFunds(client, chainFunds)
    if (funds === undefined) break
    const { transactionId, index } = funds.utxo.reference
    chains.set(`${Buffer.from(transactionId).toString('hex')}#${index}`, {
      from: funds.from,
      next: funds.utxo,
    })
  }
  if (chains.size > 0) return [...chains.values()]
  throw new CommandError(
    'CLI_NO_FUNDS',
    `No test wallet has an output of ${chainFunds / 1_000_000n} ada: an empty DATA_DIR begins anew.`,
  )
}

/** The output that a payment returns to its payer; undefined if all that was left is the fee. */
function changeOf(transaction: string): Utxo | undefined {
  return effects(decodeTransaction(Buffer.from(transaction, 'hex'))).produced[1]
}
