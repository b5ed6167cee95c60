import { fromHex } from '@ratatosk/cbor'
import { expect, test } from 'vitest'
import { decodeTransaction, validateSignatures } from '../index.js'
import { encodeBody, encodeTransaction, encodeWitnesses } from './encode-transaction.js'
import { keysFromSigningKey } from './keys/signing-key.js'
import { signed, unsigned } from './signatures.js'

const keyOf = (byte: string) => keysFromSigningKey(byte.repeat(32), { networkId: 0 }).payment
const body = encodeBody({
  inputs: [{ transactionId: new Uint8Array(32), index: 0 }],
  outputs: [],
  fee: 1n,
  collateral: [],
  requiredSigners: [],
  referenceInputs: [],
})
const redeemers = [{ tag: 0, index: 0, data: fromHex('d87980'), memory: 1n, steps: 2n }] as const

test('signatures are taken out and put in, and nothing else changes', () => {
  const plain = encodeTransaction(
    body,
    encodeWitnesses({ keyWitnesses: [], scripts: [], datums: [], redeemers }),
  )
  const keys = [keyOf('01'), keyOf('02')]
  const once = decodeTransaction(signed(decodeTransaction(plain), keys))
  expect(once.witnesses.keyWitnesses.map(({ publicKey }) => publicKey)).toEqual(
    keys.map(({ publicKey }) => publicKey),
  )
  expect(validateSignatures(once)).toEqual([])
  expect(once.id).toEqual(decodeTransaction(plain).id)
  expect(once.witnesses.redeemers).toHaveLength(1)
  expect(unsigned(once)).toEqual(plain)
  expect(unsigned(decodeTransaction(plain))).toEqual(plain)
  expect(decodeTransaction(signed(once, [keyOf('03')])).witnesses.keyWitnesses).toHaveLength(1)
})

test('a witness set of indefinite length, and one that has nothing, are read too', () => {
  for (const witnesses of ['a0', 'bfff', 'bf0581840000d87980820102ff']) {
    const transaction = decodeTransaction(encodeTransaction(body, fromHex(witnesses)))
    const again = decodeTransaction(signed(transaction, [keyOf('01')]))
    expect(again.witnesses.keyWitnesses).toHaveLength(1)
    expect(again.witnesses.redeemers).toHaveLength(transaction.witnesses.redeemers.length)
  }
})
