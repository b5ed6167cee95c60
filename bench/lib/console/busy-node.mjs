// A node on PostgreSQL and Redis, and payments at a steady rate.
import { openStore } from '@ratatosk/store'
import { defer } from '../clean-up.mjs'
import { startNode, until } from '../flood/node.mjs'
import { load } from '../load.mjs'
import { databaseUrl } from '../services.mjs'
import { makeTransfers } from '../transfers.mjs'

const connections = 16
/** How many submissions may wait for validation. */
const ahead = 4000

/** Starts a node whose ledger has an output for each of so many payments. */
export async function startBusyNode(count, environment = {}) {
  const { genesis, transactions } = makeTransfers(count)
  const { url, name, pid } = await startNode(genesis, environment)
  const store = await openStore({ url: databaseUrl, schema: name })
  defer(() => store.close())
  await until(async () => {
    const answer = await fetch(`${url}/stateQueue/root-unit-diagnostics`)
    return answer.ok && (await answer.json()).status === 'ok'
  }, 'no state queue was begun')
  const newest = async () => Number((await store.events.head()).accepted)
  const first = await newest()
  // Sequences have no gaps.
  const accepted = async () => (await newest()) - first
  let sent = 0
  return {
    url,
    name,
    pid,
    /** Accepted transactions, counted by the store. */
    counted: async () => (await store.chain.countAfter(0n, 10_000_000)).transactions,

    /**
     * Submits what so many seconds have at this rate, and waits until all are accepted.
     *
     * @returns {Promise<{ count: number, perSecond: number }>} `perSecond` until the last was accepted
     */
    async pay({ rate, seconds }) {
      const began = performance.now()
      const before = sent
      const { sentAt } = await load({
        urls: [url],
        transactions: transactions.slice(sent, sent + rate * seconds),
        seconds: Number.POSITIVE_INFINITY,
        rate,
        accepted: async () => (await accepted()) - before,
        ahead,
        connections,
      })
      sent += sentAt.length
      await until(async () => (await accepted()) >= sent, 'payments were not accepted', 50)
      return { count: sentAt.length, perSecond: (sentAt.length * 1000) / (performance.now() - began) }
    },

    async setSequencer(sequencer) {
      const answer = await fetch(`${url}/devnet/sequencer`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sequencer }),
      })
      if (!answer.ok) throw new Error(`the sequencer is not ${sequencer}: ${answer.status}`)
    },
  }
}
