import { decodeTransactionOutput, outputReferenceKey, timeToSlot, type Utxo } from '@ratatosk/ledger'
import { buildTransaction } from '@ratatosk/ledger/builder'
import { documentFees, slots } from '@ratatosk/test-kit'
import { describe, expect, it } from 'vitest'
import { spendable } from './prepare-payment.js'
import { ada, claimant, faucetKeys, outputTo } from './test/wallets.js'

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
