import { decodeTransaction } from '@ratatosk/ledger'
import { documentFees, slots } from '@ratatosk/test-kit'
import { describe, expect, it, type TestContext } from 'vitest'
import { createLayer2FaucetWallet } from './layer2-wallet.js'
import { endow } from './test/layers.js'
import { openers } from './test/services.js'
import { ada, claimant, faucetKeys } from './test/wallets.js'

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
