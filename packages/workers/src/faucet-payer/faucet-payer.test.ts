import {
  decodeTransaction,
  decodeTransactionOutput,
  outputReferenceKey,
  timeToSlot,
  type Utxo,
} from '@ratatosk/ledger'
import { buildTransaction } from '@ratatosk/ledger/builder'
import { documentFees, slots } from '@ratatosk/test-kit'
import { describe, expect, it, type TestContext } from 'vitest'
import { createLayer2FaucetWallet } from './layer2-wallet.js'
import { spendable } from './prepare-payment.js'
import { endow } from './test/layers.js'
import { openers } from './test/services.js'
import { ada, claimant, faucetKeys, outputTo } from './test/wallets.js'

describe('layer2 wallet', () => {
  const pageRows = 128

  /** A wallet that owns outputs of these amounts, oldest first, and how many of them it has read. */
  async function openWallet(context: TestContext, funds: readonly bigint[]) {
    const { store } = await openers['PostgreSQL and Redis'](context)
    await endow({ store }, funds)
    let read = 0
    const wallet = createLayer2FaucetWallet({
      store: {
        ...store,
        async *utxoPages(address) {
          for await (const page of store.utxoPages(address)) {
            read += page.length
            yield page
          }
        },
      },
      submissions: { add: () => Promise.reject(new Error('nothing is sent')) },
      keys: faucetKeys,
      parameters: documentFees,
      slots,
    })
    return { wallet, read: () => read }
  }

  const draft = (lovelace: bigint) => ({
    address: claimant(1).address.bytes,
    lovelace,
    minBalance: 10n * ada,
    underWay: [],
  })
  const many = (count: number, lovelace: bigint) => Array.from({ length: count }, () => lovelace)

  describe('a faucet wallet on layer 2 to which thousands of outputs were sent', () => {
    it('reads one page of them if that suffices', async (context) => {
      const { wallet, read } = await openWallet(context, many(3000, 200n * ada))
      expect(await wallet.prepare(draft(100n * ada))).toMatchObject({ kind: 'prepared' })
      expect(read()).toBe(pageRows)
    })

    it('reads on until they suffice', async (context) => {
      const dust = 10 * pageRows
      const { wallet, read } = await openWallet(context, [
        ...many(dust, 2n * ada),
        5000n * ada,
        ...many(dust, 2n * ada),
      ])
      const prepared = await wallet.prepare(draft(4000n * ada))
      expect(prepared).toMatchObject({ kind: 'prepared' })
      if (prepared.kind !== 'prepared') return
      const [payment] = decodeTransaction(prepared.payment.cbor).body.outputs
      expect(payment?.value.lovelace).toBe(4000n * ada)
      expect(read()).toBeGreaterThan(dust)
      expect(read()).toBeLessThanOrEqual(2 * dust)
    })

    it('is depleted only if all of them do not suffice', async (context) => {
      const { wallet, read } = await openWallet(context, many(300, 2n * ada))
      expect(await wallet.prepare(draft(591n * ada))).toEqual({ kind: 'depleted' })
      expect(read()).toBe(300)
    })
  })
})

describe('prepare payment', () => {
  const own = faucetKeys.address.bytes
  const slot = timeToSlot(slots, BigInt(Date.UTC(2026, 10, 21)))

  const first = (index: number): Utxo => ({
    reference: { transactionId: new Uint8Array(32), index },
    output: decodeTransactionOutput(outputTo(faucetKeys, 1000n * ada)),
  })

  /** A payment that spends one output, and its change. */
  async function payment(from: Utxo) {
    const { transaction, produced } = await buildTransaction(
      { outputs: [{ address: claimant(1).addressText, lovelace: 100n * ada }] },
      {
        funds: [from],
        changeAddress: own,
        signers: [faucetKeys.payment],
        parameters: documentFees,
        slots,
        slot,
        networkId: 0,
      },
    )
    const kept = { id: transaction.id, cbor: transaction.bytes, expiresAt: new Date(0) }
    return { kept, change: produced[1]! }
  }

  const names = (utxos: readonly Utxo[]) =>
    utxos.map(({ reference }) => outputReferenceKey(reference)).toSorted()

  describe('spendable', () => {
    it('returns outputs that no payment under way spends, and the change of accepted payments', async () => {
      const [a, b, c] = [first(0), first(1), first(2)]
      const [paid, waiting] = [await payment(a), await payment(b)]
      const underWay = [
        { payment: paid.kept, accepted: true },
        { payment: waiting.kept, accepted: false },
      ]
      const { accepted, all } = spendable([a, b, c], underWay, own)
      expect(names(accepted)).toEqual(names([c, paid.change]))
      expect(names(all)).toEqual(names([c, paid.change, waiting.change]))
    })

    it('follows a chain of payments of which the ledger has included any part', async () => {
      const one = await payment(first(0))
      const two = await payment(one.change)
      const underWay = [one, two].map(({ kept }) => ({ payment: kept, accepted: true }))
      for (const unspent of [first(0), one.change, two.change]) {
        expect(names(spendable([unspent], underWay, own).accepted)).toEqual(names([two.change]))
      }
    })

    it('omits the change of an included payment once it is spent', async () => {
      const one = await payment(first(0))
      const underWay = [{ payment: one.kept, accepted: true }]
      expect(names(spendable([first(1)], underWay, own).accepted)).toEqual(names([first(1)]))
      expect(spendable([], underWay, own).all).toEqual([])
    })
  })
})
