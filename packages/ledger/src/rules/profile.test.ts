import { describe, expect, it } from 'vitest'
import { CborWriter } from '../cbor/writer.js'
import {
  addressOf,
  type Draft,
  encodeBytes,
  encodeDraft,
  encodeInput,
  encodeList,
  encodeOutput,
  encodeSet,
  encodeUint,
  testKey,
  withFields,
} from '../test/draft.js'
import { decodeTransaction } from '../transaction/decode.js'
import { judgeProfile } from './profile.js'

const { hash } = testKey('alice')
const account = Uint8Array.of(0xe0, ...hash)
const transfer: Draft = {
  body: new Map([
    [0, encodeSet([encodeInput(new Uint8Array(32), 0)])],
    [1, encodeList([encodeOutput({ address: addressOf(hash), lovelace: 2_000_000n })])],
    [2, encodeUint(200_000)],
  ]),
  witnesses: new Map(),
  signers: [],
  isValid: true,
}
const withdrawal = (lovelace: number, header = 0xe0): Uint8Array =>
  new CborWriter()
    .map(1)
    .bytes(Uint8Array.of(header, ...hash))
    .uint(lovelace)
    .toBytes()
const certificate = new CborWriter().array(3).uint(7).array(2).uint(0).bytes(hash).uint(2_000_000).toBytes()
const anchor = new CborWriter().array(2).text('https://example.org').bytes(new Uint8Array(32)).toBytes()
const proposal = new CborWriter().array(4).uint(1).bytes(account).array(1).uint(6).raw(anchor).toBytes()
const votes = new CborWriter()
  .map(1)
  .array(2)
  .uint(2)
  .bytes(hash)
  .map(1)
  .raw(encodeInput(new Uint8Array(32), 0))
  .array(2)
  .uint(1)
  .null()
  .toBytes()

const names = (draft: Draft): string[] =>
  judgeProfile(decodeTransaction(encodeDraft(draft))).map(({ predicate }) => predicate)

describe('the layer-2 profile', () => {
  it.each<[string, Draft]>([
    ['a transfer', transfer],
    ['a script that withdraws nothing and so observes', withFields(transfer, { 5: withdrawal(0, 0xf0) })],
    [
      'collateral fields',
      withFields(transfer, {
        13: encodeSet([encodeInput(new Uint8Array(32), 1)]),
        16: encodeOutput({ address: addressOf(hash), lovelace: 2_000_000n }),
        17: encodeUint(1_000_000),
      }),
    ],
    ['reference inputs', withFields(transfer, { 18: encodeSet([encodeInput(new Uint8Array(32), 1)]) })],
    ['a required signer', withFields(transfer, { 14: encodeSet([encodeBytes(hash)]) })],
  ])('lets through %s', (_, draft) => {
    expect(names(draft)).toEqual([])
  })

  it.each<[string, Draft]>([
    ['CertificatesNotSupported', withFields(transfer, { 4: encodeSet([certificate]) })],
    ['WithdrawalsNotSupported', withFields(transfer, { 5: withdrawal(1) })],
    ['WithdrawalsNotSupported', withFields(transfer, { 5: withdrawal(1, 0xf0) })],
    ['WithdrawalsNotSupported', withFields(transfer, { 5: withdrawal(0) })],
    ['VotesNotSupported', withFields(transfer, { 19: votes })],
    ['ProposalsNotSupported', withFields(transfer, { 20: encodeSet([proposal]) })],
    ['DonationsNotSupported', withFields(transfer, { 22: encodeUint(1) })],
    ['TreasuryValueNotSupported', withFields(transfer, { 21: encodeUint(0) })],
    ['InvalidTransactionsNotSupported', { ...transfer, isValid: false }],
  ])('refuses by name: %s', (name, draft) => {
    expect(names(draft)).toEqual([name])
  })

  it('names every reason', () => {
    const draft = withFields(transfer, { 4: encodeSet([certificate]), 5: withdrawal(1) })
    expect(names({ ...draft, isValid: false })).toEqual([
      'CertificatesNotSupported',
      'WithdrawalsNotSupported',
      'InvalidTransactionsNotSupported',
    ])
  })
})
