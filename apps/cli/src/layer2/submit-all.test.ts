import { createClient } from '@ratatosk/client'
import { decodeTransaction, effects, type Utxo } from '@ratatosk/ledger'
import { expect, onTestFinished, test, vi } from 'vitest'
import { anyPlace, receiver, withNode } from '../test/nodes.js'
import { devnetFunds, openBuilder } from './layer2.js'
import { submitAll } from './submit-all.js'

vi.setConfig({ testTimeout: 240_000 })

/** A chain of payments, and one that spends the same output as the last. */
async function chainOf(url: string, length: number) {
  const client = createClient(url)
  const builder = await openBuilder(client)
  const funds = await devnetFunds(client, 100_000_000n)
  if (funds === undefined) throw new Error('The devnet has no funds')
  const { from } = funds
  let { utxo } = funds
  const payments: { readonly transaction: string; readonly txHash: string }[] = []
  const pay = (lovelace: bigint) => builder.pay({ from, utxo, to: receiver, lovelace })
  for (let n = 0; n < length; n++) {
    if (n > 0) utxo = changeOf(payments.at(-1)?.transaction)
    payments.push(await pay(2_000_000n))
  }
  return { chain: payments, doubleSpend: await pay(3_000_000n) }
}

function changeOf(transaction = ''): Utxo {
  const [, change] = effects(decodeTransaction(Buffer.from(transaction, 'hex'))).produced
  if (change === undefined) throw new Error('There is no change')
  return change
}

function idOf(answer: unknown): string {
  return typeof answer === 'object' && answer !== null && 'id' in answer ? String(answer.id) : ''
}

async function* linesOf(lines: readonly string[]): AsyncGenerator<string, void> {
  yield* lines
}

test('what was accepted has results before a double spend, at the pace of the node', async () => {
  const { settings, secrets, remove } = await anyPlace()
  onTestFinished(remove)
  await withNode({ ...settings, ...secrets }, async (url) => {
    const { chain, doubleSpend } = await chainOf(url, 20)
    const lines = [...chain.map(({ transaction }) => transaction), '', doubleSpend.transaction]
    const submit = (send: typeof fetch, fromLine = 1, patienceMs?: number) =>
      submitAll(createClient(url, { fetch: send, retries: 0 }), linesOf(lines), {
        fromLine,
        ...(patienceMs && { patienceMs }),
      })

    const always = (status: number) => async () =>
      new Response('{}', { status, headers: { 'retry-after': '3600' } })
    expect(await submit(always(429), 3, 200)).toMatchObject({
      submitted: 0,
      stopped: { line: 3, code: 'HTTP_429' },
    })
    // The node goes away between two submissions, and before the first result.
    for (const [posts, line] of [[4, 5] as const, [20, 22] as const]) {
      let count = 0
      const leaving: typeof fetch = async (input, init) =>
        init?.method === 'POST' && count++ < posts ? fetch(input, init) : always(503)()
      expect(await submit(leaving, 1, 200)).toMatchObject({
        submitted: posts,
        accepted: 0,
        refused: posts,
        stopped: { line, code: 'HTTP_503' },
      })
    }

    // As if the first submission had no result.
    let firstId: string | undefined
    const withoutFirst: typeof fetch = async (input, init) => {
      const id = new URL(String(input)).searchParams.get('id')
      if (id !== null && id === firstId)
        return Response.json({ id, status: 'queued', attempts: 0, txHash: null, submittedAt: null })
      const response = await fetch(input, init)
      if (init?.method === 'POST') firstId ??= idOf(await response.clone().json())
      return response
    }
    const late = await submit(withoutFirst, 1, 1500)
    expect(late).toMatchObject({
      submitted: 20,
      accepted: 19,
      refusals: [{ line: 1, code: 'CLI_NO_RESULT' }],
      stopped: {
        line: 22,
        message: expect.stringMatching(/^1 transactions .* same outputs.*from-line 1\.$/),
      },
    })

    const repeated = Array.from({ length: 260 }, (_, n) => chain[n % chain.length]?.transaction ?? '')
    const silent: typeof fetch = async (input, init) => {
      const id = new URL(String(input)).searchParams.get('id')
      if (id === null) return fetch(input, init)
      return Response.json({ id, status: 'queued', attempts: 0, txHash: null, submittedAt: null })
    }
    const client = createClient(url, { fetch: silent })
    expect(await submitAll(client, linesOf(repeated), { patienceMs: 200 })).toMatchObject({
      submitted: 256,
      refused: 256,
      stopped: { line: 257, message: expect.stringMatching(/^256 transactions have no result yet/) },
    })

    let requests = 0
    const limited: typeof fetch = async (input, init) =>
      requests++ % 3 === 0
        ? new Response('{}', { status: 429, headers: { 'retry-after': '0' } })
        : fetch(input, init)
    expect(await submit(limited)).toMatchObject({
      submitted: 21,
      accepted: 20,
      refused: 1,
      refusals: [{ line: 22 }],
    })
  })
})
