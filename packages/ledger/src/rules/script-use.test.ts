import { CborWriter } from '@ratatosk/cbor'
import { encodeAssets, encodeDraft, encodeInput, encodeList, encodeSet, encodeUint } from '@ratatosk/fixtures'
import { expect, it } from 'vitest'
import { decodeTransaction } from '../transaction/decode.js'
import { redeemerTargets } from './script-use.js'

const hash = (byte: number) => new Uint8Array(28).fill(byte)
const hex = (byte: number) => Buffer.from(hash(byte)).toString('hex')

it('finds what redeemers are for in the order of the ledger', () => {
  const accounts = new CborWriter().map(2)
  for (const [header, byte] of [
    [0xe0, 1],
    [0xf0, 2],
  ] as const)
    accounts.bytes(Uint8Array.of(header, ...hash(byte))).uint(0)
  const certificates = new CborWriter().array(1).array(3).uint(8).array(2).uint(1).bytes(hash(5)).uint(2)
  const body = new Map([
    [0, encodeSet([3, 0].map((index) => encodeInput(new Uint8Array(32), index)))],
    [1, encodeList([])],
    [2, encodeUint(0)],
    [4, certificates.toBytes()],
    [5, accounts.toBytes()],
    [9, encodeAssets([4, 3].map((byte) => [hash(byte), 'aa', 1n] as const))],
  ])
  const draft = { body, witnesses: new Map<number, Uint8Array>(), signers: [], isValid: true }
  const targetOf = redeemerTargets(decodeTransaction(encodeDraft(draft)))
  const output = (index: number) => ({ output: { transactionId: new Uint8Array(32), index } })
  expect([0, 1, 2].map((index) => targetOf({ purpose: 'spend', index }))).toEqual([
    output(0),
    output(3),
    undefined,
  ])
  expect([0, 1, 2].map((index) => targetOf({ purpose: 'mint', index }))).toEqual([
    { script: hex(3) },
    { script: hex(4) },
    undefined,
  ])
  // Scripts are before keys.
  expect([0, 1].map((index) => targetOf({ purpose: 'reward', index }))).toEqual([
    { script: hex(2) },
    undefined,
  ])
  expect(targetOf({ purpose: 'cert', index: 0 })).toEqual({ script: hex(5) })
})
