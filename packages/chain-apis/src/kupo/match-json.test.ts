import { CborWriter } from '@ratatosk/cbor'
import { decodeTransaction, decodeTransactionOutput } from '@ratatosk/ledger'
import { payment } from '@ratatosk/test-kit/ledger-apis'
import { expect, test } from 'vitest'
import { chainWith } from '../test/served-chain.js'
import type { ChainOutput } from '../view/chain-view.js'
import { matchesJson } from './match-json.js'

const address = new Uint8Array(29).fill(0x60, 0, 1)
const transactionHash = '11'.repeat(32)
const created = { block: { height: 0, slot: 0n, hash: '00'.repeat(32) }, position: 0 }
const spenders = ['aa', 'bb'].map((byte) => byte.repeat(32))

const found = spenders.map((spender, index): ChainOutput => {
  const output = decodeTransactionOutput(new CborWriter().array(2).bytes(address).uint(1n).toBytes())
  const spent = { ...created, transactionHash: spender, by: 'inputs' } as const
  return {
    key: `${transactionHash}#${index}`,
    transactionHash,
    index,
    output,
    created,
    collateralReturn: false,
    spent,
  }
})

/** A chain that knows so many of the spenders. */
const chainOf = (known: number) =>
  chainWith({
    transactions: () =>
      new Map(spenders.slice(0, known).map((hash) => [hash, decodeTransaction(payment().cbor)])),
  })

test('outputs whose spender was undone meanwhile are no answer', async () => {
  expect([...(await matchesJson(chainOf(2), found, false))]).toHaveLength(2)
  await expect(matchesJson(chainOf(1), found, false)).rejects.toMatchObject({
    name: 'ChainUnavailableError',
    statusCode: 503,
  })
})
