import { CborWriter, fromHex } from '@ratatosk/cbor'
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
  keyOf,
  withFields,
} from '@ratatosk/fixtures'
import { describe, expect, it } from 'vitest'
import { crc32 } from '../address/address.js'
import { decodeTransaction } from '../transaction/decode.js'
import { profileLimits, validateProfile } from './profile.js'

const { hash } = keyOf('alice')
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
  validateProfile(decodeTransaction(encodeDraft(draft))).map(({ predicate }) => predicate)

describe('the layer-2 profile', () => {
  it.each<[string, Draft]>([
    ['a transfer', transfer],
    ['a withdrawal of zero by a script', withFields(transfer, { 5: withdrawal(0, 0xf0) })],
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
  ])('accepts %s', (_, draft) => {
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
  ])('reports %s', (name, draft) => {
    expect(names(draft)).toEqual([name])
  })

  const bodyOf = (fields: string): string => `a3${fields}`
  const inputs = `0081825820${'aa'.repeat(32)}00`
  const outputs = `018182581d60${'bb'.repeat(28)}1a001e8480`
  const body = bodyOf(`${inputs}${outputs}0200`)
  const named = (hex: string): unknown[] =>
    validateProfile(decodeTransaction(fromHex(hex))).map(({ predicate, details }) => [
      predicate,
      details.part,
    ])
  const witnesses = `a10081825820${'cc'.repeat(32)}5840${'dd'.repeat(64)}`

  it.each<[string, string, string, string?]>([
    ['an indefinite transaction', 'IndefiniteTransactionNotSupported', `9f${body}a0f5f6ff`],
    ['a transaction with a long head', 'IndefiniteTransactionNotSupported', `9804${body}a0f5f6`],
    [
      'an indefinite input',
      'IndefiniteReferencesNotSupported',
      `84${body.replace('825820', '9f5820').replace('00018182', '00ff018182')}a0f5f6`,
    ],
    [
      'an indefinite reference input',
      'IndefiniteReferencesNotSupported',
      `84a4${inputs}${outputs}020012819f5820${'ab'.repeat(32)}00ffa0f5f6`,
    ],
    [
      'a fee with a long head',
      'LongHeadsNotSupported',
      `84${bodyOf(`${inputs}${outputs}021800`)}a0f5f6`,
      'body',
    ],
    [
      'a fee in eight bytes',
      'LongHeadsNotSupported',
      `84${bodyOf(`${inputs}${outputs}021b00000000ffffffff`)}a0f5f6`,
      'body',
    ],
    [
      'a signature with a long head',
      'LongHeadsNotSupported',
      `84${body}${witnesses.replace('5840', '590040')}f5f6`,
      'witness set',
    ],
    [
      'an indefinite key witness',
      'IndefiniteKeyWitnessesNotSupported',
      `84${body}${witnesses.replace('81825820', '819f5820')}fff5f6`,
    ],
  ])('refuses %s', (_, name, hex, part) => {
    expect(named(hex)).toEqual([[name, part]])
  })

  it('accepts indefinite lists and strings', () => {
    const open = bodyOf(
      `009f825820${'aa'.repeat(32)}00ff019f82581d60${'bb'.repeat(28)}1a001e8480ff021b0000000100000000`,
    )
    // A datum: a list of an indefinite byte string with two chunks.
    expect(named(`84${open}a10481 9f5f4101 4102ff ff f5f6`.replaceAll(' ', ''))).toEqual([])
  })

  it('accepts as many items as layer 1 can read in body and witness set, and no more', () => {
    // A datum of numbers, beside two maps, keys, lists and heads.
    const numbers = (count: number) =>
      count > 255 ? `99${count.toString(16).padStart(4, '0')}` : `98${count.toString(16).padStart(2, '0')}`
    const datums = (count: number) => `a10481${numbers(count)}${'00'.repeat(count)}`
    const { witnessSetItems, bodyItems } = profileLimits
    expect(named(`84${body}${datums(witnessSetItems - 4)}f5f6`)).toEqual([])
    expect(named(`84${body}${datums(witnessSetItems - 3)}f5f6`)).toEqual([['TooManyItems', 'witness set']])
    // A break is an item too.
    const chunks = (count: number) => `a104815f${'4100'.repeat(count)}ff`
    expect(named(`84${body}${chunks(witnessSetItems - 5)}f5f6`)).toEqual([])
    expect(named(`84${body}${chunks(witnessSetItems - 4)}f5f6`)).toEqual([['TooManyItems', 'witness set']])
    const signers = (count: number) =>
      Array.from({ length: count }, (_, n) => `581c${n.toString(16).padStart(56, '0')}`).join('')
    const names = Array.from({ length: 200 }, (_, n) => `4200${n.toString(16).padStart(2, '0')}01`).join('')
    const mint = `09a1581c${'cc'.repeat(28)}b8c8${names}`
    const required = (count: number) =>
      `84a5${inputs}${outputs}0200${mint}0e${numbers(count)}${signers(count)}a0f5f6`
    // Map, five keys, three lists, a reference and its parts, an output and its parts, a fee; a mint of 400
    // names and quantities, with two maps and a policy.
    expect(named(required(bodyItems - 419))).toEqual([])
    expect(named(required(bodyItems - 418))).toEqual([['TooManyItems', 'body']])
  })

  it('accepts a transaction of 16,384 bytes and no larger one', () => {
    const zeros = (count: number) => '00'.repeat(count)
    const strings = `5840${zeros(64)}`.repeat(246)
    const annotated = (last: number) =>
      `84${body}a0f5a10098ff${strings}${zeros(8)}58${last.toString(16)}${zeros(last)}`
    const least = annotated(100).length / 2
    const named16 = (bytes: number) => named(annotated(100 + bytes - least))
    expect(named16(profileLimits.transactionBytes)).toEqual([])
    expect(named16(profileLimits.transactionBytes + 1)).toEqual([['TooManyBytes', 'transaction']])
  })

  const listOf = (count: number, item: (number: string) => string): string => {
    const items = Array.from({ length: count }, (_, i) => item(i.toString(16).padStart(2, '0')))
    return `${count > 23 ? '98' : ''}${(count > 23 ? count : 0x80 + count).toString(16)}${items.join('')}`
  }
  const referencesOf = (count: number) => listOf(count, (n) => `825820${n.padEnd(64, '0')}00`)

  it.each<[string, number, (count: number) => string]>([
    ['TooManyInputs', profileLimits.inputs, (count) => `84a300${referencesOf(count)}${outputs}0200a0f5f6`],
    [
      'TooManyInputs',
      Math.floor((profileLimits.inputs - 1) / 2),
      (count) => `84a4${inputs}${outputs}020012${referencesOf(count)}a0f5f6`,
    ],
    [
      'TooManyOutputs',
      profileLimits.outputs,
      (count) => `84a3${inputs}01${listOf(count, () => `82581d60${'bb'.repeat(28)}00`)}0200a0f5f6`,
    ],
    [
      'TooManyKeyWitnesses',
      profileLimits.keyWitnesses,
      (count) =>
        `84${body}a100${listOf(count, (n) => `825820${n.padEnd(64, '0')}5840${'dd'.repeat(64)}`)}f5f6`,
    ],
    [
      'TooManyScriptWitnesses',
      profileLimits.scripts,
      (count) => `84${body}a101${listOf(count, (n) => `8200581c${n.padEnd(56, '0')}`)}f5f6`,
    ],
    // Equal ones count too.
    ['TooManyDatums', profileLimits.datums, (count) => `84${body}a104${listOf(count, () => '00')}f5f6`],
    [
      'TooManyRedeemers',
      profileLimits.redeemers,
      (count) => `84${body}a105${listOf(count, () => '84000000820000')}f5f6`,
    ],
  ])('accepts no more than a number: %s', (predicate, most, transaction) => {
    expect(named(transaction(most))).toEqual([])
    expect(named(transaction(most + 1))).toEqual([[predicate, undefined]])
  })

  it('refuses outputs at Byron addresses', () => {
    const content = `83581c${'05'.repeat(28)}a000`
    const address = `82d8185821${content}1a${crc32(fromHex(content)).toString(16).padStart(8, '0')}`
    const output = `0181825828${address}1a001e8480`.replace('5828', `58${(address.length / 2).toString(16)}`)
    expect(named(`84a3${inputs}${output}0200a0f5f6`)).toEqual([['ByronAddressesNotSupported', undefined]])
  })

  it('reports every broken rule', () => {
    const draft = withFields(transfer, { 4: encodeSet([certificate]), 5: withdrawal(1) })
    expect(names({ ...draft, isValid: false })).toEqual([
      'CertificatesNotSupported',
      'WithdrawalsNotSupported',
      'InvalidTransactionsNotSupported',
    ])
  })
})
