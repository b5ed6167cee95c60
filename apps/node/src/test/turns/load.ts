import { setTimeout as sleep } from 'node:timers/promises'
import { toHex } from '@ratatosk/cbor'
import { keyOf, outputOf, transfer } from '@ratatosk/fixtures'
import { blake2b256 } from '@ratatosk/ledger'
import { until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { type KeepAliveClient, keepAliveClient } from '../keep-alive-client.js'
import type { OperatorNode } from './operator-nodes.js'

const lovelace = 10_000_000n
const fee = 200_000n
const key = keyOf(7)
const sourceOf = (n: number) => ({ transactionId: blake2b256(Buffer.from(`source ${n}`)), index: 0 })

/** For GENESIS_FILE. */
export const sources = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    outref: `${toHex(sourceOf(n).transactionId)}#0`,
    output: toHex(outputOf(key, lovelace)),
  }))

/** A payment that spends one source, or the output of the payment before it. */
interface Payment {
  readonly id: string
  readonly cborHex: string
}

function payments(source: number, length: number, firstFee = fee): readonly Payment[] {
  const made: Payment[] = []
  let from = sourceOf(source)
  let left = lovelace - firstFee
  for (let n = 0; n < length; n++, left -= fee) {
    const { id, cbor } = transfer(key, [from], [left], { fee: n === 0 ? firstFee : fee })
    made.push({ id: toHex(id), cborHex: toHex(cbor) })
    from = { transactionId: id, index: 0 }
  }
  return made
}

/** Two payments that spend one source, each accepted by another node. */
interface Rivals {
  readonly ids: readonly [string, string]
  readonly nodes: readonly [number, number]
}

/** Submits payments, chains of three and conflicting pairs by turns; without an answer, to the next node. */
export function openLoad(t: Test, nodes: readonly OperatorNode[], count: number, pauseMs: number) {
  const clients: readonly KeepAliveClient[] = nodes.map(({ url }) => keepAliveClient(t, url))
  const payers: string[] = []
  const rivals: Rivals[] = []
  let isPaused = true
  let ended = false

  /** @returns the place of the node that has accepted all */
  async function give(chain: readonly Payment[], preferred: number): Promise<number> {
    let at = preferred
    await until(
      async () => {
        at = (at + 1) % nodes.length
        const [node, client] = [nodes[at]!, clients[at]!]
        if (!node.isUp) return false
        try {
          for (const { cborHex } of chain) await client.submit(cborHex)
          return true
        } catch {
          // The next node.
          return false
        }
      },
      { what: 'a node accepts a payment', timeoutMs: 120_000 },
    )
    return at
  }

  async function submit(n: number): Promise<void> {
    if (n % 8 === 5) {
      const [one, two] = [payments(n, 1), payments(n, 1, fee + 1n)]
      const places = await Promise.all([give(one, n), give(two, n + 1)])
      rivals.push({ ids: [one[0]!.id, two[0]!.id], nodes: places })
    } else {
      const chain = payments(n, n % 8 === 3 ? 3 : 1)
      await give(chain, n)
      payers.push(...chain.map(({ id }) => id))
    }
  }

  let submitted = 0
  const failures: unknown[] = []
  const running = (async () => {
    const open = new Set<Promise<void>>()
    while (!ended && submitted < count) {
      await sleep(pauseMs)
      if (isPaused || open.size > 32) continue
      const next = submit(submitted++)
        .catch((error: unknown) => failures.push(error))
        .then(() => void open.delete(next))
      open.add(next)
    }
    await Promise.all(open)
  })()
  t.teardown(() => {
    ended = true
  })
  return {
    begin() {
      isPaused = false
    },
    /** Ends the load and returns what was accepted: what nothing rivals, and the rivals. */
    async end() {
      ended = true
      await running
      if (failures.length > 0) throw failures[0]
      return { payers, rivals, submitted }
    },
  }
}
