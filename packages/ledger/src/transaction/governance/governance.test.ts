import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { describe, expect, it } from 'vitest'
import {
  account,
  anchor,
  failure,
  half,
  hash28,
  hash32,
  inBody,
  key,
  keyAddress,
  script,
} from '../../test/conway-hex.js'

const bytes28 = (fill: number): Uint8Array => new Uint8Array(28).fill(fill)
const certificate = (hex: string) => inBody({ 4: `81${hex}` })
const proposal = (action: string) => inBody({ 20: `818405${account(1)}${action}${anchor}` })
const votes = (hex: string) => inBody({ 19: hex })
const url129 = `7881${'61'.repeat(129)}`
const fraction = (numerator: string, denominator: string): string => `d81e82${numerator}${denominator}`

describe('a certificate', () => {
  const relays = `83${'8400f64401020304f6'}${'8301190bb96161'}${'82026161'}`
  const pool = (margin = half, relayList = relays, metadata = 'f6'): string =>
    `8a03${hash28(1)}${hash32(2)}0001${margin}${account(3)}82${hash28(4)}${hash28(5)}${relayList}${metadata}`

  it.each([
    ['stake_registration', `8200${key(1)}`, {}],
    ['stake_deregistration', `8201${script(1)}`, { witness: { kind: 'script', hash: bytes28(1) } }],
    ['stake_delegation', `8302${key(1)}${hash28(2)}`, { witness: { kind: 'key', hash: bytes28(1) } }],
    [
      'pool_registration',
      pool(),
      { witness: { kind: 'key', hash: bytes28(1) }, owners: [bytes28(4), bytes28(5)] },
    ],
    ['pool_registration', pool(half, '80', `8261614105`), {}],
    ['pool_retirement', `8304${hash28(1)}05`, { witness: { kind: 'key', hash: bytes28(1) } }],
    ['reg_cert', `8307${key(1)}05`, { deposit: 5n }],
    ['unreg_cert', `8308${key(1)}05`, { deposit: -5n }],
    ['vote_deleg_cert', `8309${key(1)}8102`, {}],
    ['stake_vote_deleg_cert', `840a${key(1)}${hash28(2)}8200${hash28(3)}`, {}],
    ['stake_reg_deleg_cert', `840b${key(1)}${hash28(2)}05`, { deposit: 5n }],
    ['vote_reg_deleg_cert', `840c${key(1)}810305`, { deposit: 5n }],
    ['stake_vote_reg_deleg_cert', `850d${key(1)}${hash28(2)}8201${hash28(3)}05`, { deposit: 5n }],
    ['auth_committee_hot_cert', `830e${key(1)}${key(2)}`, { witness: { kind: 'key', hash: bytes28(1) } }],
    ['resign_committee_cold_cert', `830f${key(1)}f6`, {}],
    ['reg_drep_cert', `8410${key(1)}05${anchor}`, { deposit: 5n }],
    ['unreg_drep_cert', `8311${key(1)}05`, { deposit: -5n }],
    ['update_drep_cert', `9f12${key(1)}${anchor}ff`, {}],
  ])('is decoded: %s', (kind, hex, fields) => {
    expect(certificate(hex)().certificates).toMatchObject([{ kind, bytes: fromHex(hex), ...fields }])
  })

  it('needs no witness if it only registers', () => {
    expect(certificate(`8200${key(1)}`)().certificates[0]).not.toHaveProperty('witness')
  })

  it('must not be repeated, but its kind may be', () => {
    expect(inBody({ 4: `828200${key(1)}8200${key(2)}` })().certificates).toHaveLength(2)
    expect(inBody({ 4: `828200${key(1)}8200${key(1)}` })).toThrow(
      failure('CBOR_DUPLICATE', 'certificates[1]'),
    )
  })

  it.each([
    ['genesis delegation', `8405${hash28(1)}${hash28(2)}${hash32(3)}`, 'CBOR_UNKNOWN_VARIANT'],
    ['instantaneous rewards', '8206820005', 'CBOR_UNKNOWN_VARIANT'],
    ['kind 19', `8213${key(1)}`, 'CBOR_UNKNOWN_VARIANT'],
    ['an extra item', `8300${key(1)}00`, 'CBOR_UNEXPECTED_SIZE'],
    ['a missing item', `8202${key(1)}`, 'CBOR_UNEXPECTED_SIZE'],
    ['a credential of kind 2', `82008202${hash28(1)}`, 'CBOR_UNKNOWN_VARIANT'],
    ['a credential with three items', `82008300${hash28(1)}00`, 'CBOR_UNEXPECTED_SIZE'],
    ['a hash of 27 bytes', `82008200581b${'00'.repeat(27)}`, 'CBOR_UNEXPECTED_SIZE'],
    ['a representative of kind 4', `8309${key(1)}8104`, 'CBOR_UNKNOWN_VARIANT'],
    ['a representative that abstains with a hash', `8309${key(1)}8202${hash28(1)}`, 'CBOR_UNEXPECTED_SIZE'],
    ['a URL of 129 bytes', `8312${key(1)}82${url129}${hash32(1)}`, 'CBOR_OUT_OF_RANGE'],
    ['a URL that is not UTF-8', `8312${key(1)}8261ff${hash32(1)}`, 'CBOR_INVALID_UTF8'],
    ['a margin over 1', pool(fraction('03', '02')), 'CBOR_OUT_OF_RANGE'],
    ['a margin without its tag', pool('820102'), 'CBOR_UNEXPECTED_TYPE'],
    ['a margin with denominator zero', pool(fraction('00', '00')), 'CBOR_OUT_OF_RANGE'],
    ['a negative margin', pool(fraction('20', '02')), 'CBOR_OUT_OF_RANGE'],
    ['a repeated owner', pool().replace(hash28(5), hash28(4)), 'CBOR_DUPLICATE'],
    ['a payment address as reward account', pool().replace(account(3), keyAddress), 'ADDRESS_WRONG_KIND'],
    ['a relay of kind 3', pool(half, '818203f6'), 'CBOR_UNKNOWN_VARIANT'],
    ['a port over 16 bits', pool(half, '8183011a000100006161'), 'CBOR_OUT_OF_RANGE'],
    ['an IPv4 address of five bytes', pool(half, '818400f64501020304056161'), 'CBOR_UNEXPECTED_SIZE'],
  ])('is refused: %s', (_, hex, code) => {
    expect(certificate(hex)).toThrow(failure(code))
  })

  it('may have fractions that fit 64 bits in lowest terms', () => {
    const big = 'c249020000000000000000'
    expect(certificate(pool(fraction('c249010000000000000000', big)))().certificates).toHaveLength(1)
    expect(certificate(pool(fraction('01', big)))).toThrow(failure('CBOR_OUT_OF_RANGE'))
  })
})

describe('votes', () => {
  const action = (fill: number, index = '00'): string => `82${hash32(fill)}${index}`

  it.each([
    ['0', 'committee', 'key'],
    ['1', 'committee', 'script'],
    ['2', 'drep', 'key'],
    ['3', 'drep', 'script'],
    ['4', 'pool', 'key'],
  ])('are decoded for voters of kind %s: %s by %s', (variant, role, kind) => {
    const ballot = `a1${action(1)}8201f6`
    expect(votes(`a1820${variant}${hash28(7)}${ballot}`)().votingProcedures).toEqual([
      { voter: { role, credential: { kind, hash: bytes28(7) } }, bytes: fromHex(ballot) },
    ])
  })

  it.each([
    ['a voter of kind 5', `a18205${hash28(7)}a1${action(1)}8201f6`, 'CBOR_UNKNOWN_VARIANT'],
    ['a voter without votes', `a18204${hash28(7)}a0`, 'CBOR_EMPTY'],
    [
      'a repeated voter',
      `a28204${hash28(7)}a1${action(1)}8201f68204${hash28(7)}a1${action(2)}8201f6`,
      'CBOR_DUPLICATE',
    ],
    [
      'a repeated action',
      `a18204${hash28(7)}a2${action(1)}8201f6${action(1, '1800')}8200f6`,
      'CBOR_DUPLICATE',
    ],
    ['a vote of 3', `a18204${hash28(7)}a1${action(1)}8203f6`, 'CBOR_OUT_OF_RANGE'],
    ['a vote without anchor or null', `a18204${hash28(7)}a1${action(1)}8101`, 'CBOR_UNEXPECTED_SIZE'],
    ['an action over 16 bits', `a18204${hash28(7)}a1${action(1, '1a00010000')}8201f6`, 'CBOR_OUT_OF_RANGE'],
    ['a list', '80', 'CBOR_UNEXPECTED_TYPE'],
  ])('are refused: %s', (_, hex, code) => {
    expect(votes(hex)).toThrow(failure(code))
  })
})

describe('a proposal', () => {
  const previous = `82${hash32(6)}01`
  const update = (fields: string): string => `8400f6${fields}f6`

  it.each([
    ['parameter_change_action', `8400${previous}a0${hash28(8)}`, { policyHash: bytes28(8) }],
    ['hard_fork_initiation_action', '8301f6820b00', {}],
    [
      'treasury_withdrawals_action',
      `8302a2${account(1)}05${account(2)}00${hash28(8)}`,
      { policyHash: bytes28(8) },
    ],
    ['treasury_withdrawals_action', '8302a0f6', {}],
    ['no_confidence', '8203f6', {}],
    ['update_committee', `8504f6d9010281${key(1)}a1${key(2)}05${half}`, {}],
    ['new_constitution', `8305${previous}82${anchor}f6`, {}],
    ['info_action', '8106', {}],
  ])('is decoded: %s', (kind, action, fields) => {
    expect(proposal(action)().proposalProcedures).toMatchObject([
      { kind, deposit: 5n, returnAccount: { kind: 'reward' }, ...fields },
    ])
  })

  it('may change every parameter', () => {
    const numbers = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 22, 23, 24, 27, 28, 29, 30, 31, 32]
    const head = (number: number): string => toHex(new CborWriter().uint(number).toBytes())
    const fields = [
      ...numbers.map((number) => `${head(number)}05`),
      ...[9, 33].map((number) => head(number) + fraction('03', '02')),
      ...[10, 11].map((number) => head(number) + half),
      `${head(18)}a200821b7fffffffffffffff200380`,
      `${head(19)}82${half}${half}`,
      `${head(20)}820102`,
      `${head(21)}820102`,
      `${head(25)}85${half.repeat(5)}`,
      `${head(26)}8a${half.repeat(10)}`,
    ]
    expect(proposal(update(`bf${fields.join('')}ff`))().proposalProcedures).toHaveLength(1)
  })

  it.each([
    ['kind 7', '8107', 'CBOR_UNKNOWN_VARIANT'],
    ['a change without policy or null', '8300f6a0', 'CBOR_UNEXPECTED_SIZE'],
    ['parameter 12', update('a10c00'), 'CBOR_UNKNOWN_FIELD'],
    ['a parameter twice', update('a200050006'), 'CBOR_DUPLICATE'],
    ['a size over 32 bits', update('a1021b0000000100000000'), 'CBOR_OUT_OF_RANGE'],
    ['a size over 16 bits', update('a1041a00010000'), 'CBOR_OUT_OF_RANGE'],
    ['execution units over 63 bits', update('a11482011b8000000000000000'), 'CBOR_OUT_OF_RANGE'],
    ['a cost over 63 bits', update('a112a100811b8000000000000000'), 'CBOR_OUT_OF_RANGE'],
    ['prices of one', update(`a11381${half}`), 'CBOR_UNEXPECTED_SIZE'],
    ['four pool thresholds', update(`a1181984${half.repeat(4)}`), 'CBOR_UNEXPECTED_SIZE'],
    ['ledger version 13', '8301f6820d00', 'CBOR_OUT_OF_RANGE'],
    ['a withdrawal to a payment address', `8302a1${keyAddress}05f6`, 'ADDRESS_WRONG_KIND'],
    ['a repeated withdrawal', `8302a2${account(1)}05${account(1)}05f6`, 'CBOR_DUPLICATE'],
    ['a removed member that is repeated', `8504f682${key(1)}${key(1)}a0${half}`, 'CBOR_DUPLICATE'],
    ['an added member that is repeated', `8504f680a2${key(1)}00${key(1)}01${half}`, 'CBOR_DUPLICATE'],
  ])('is refused: %s', (_, action, code) => {
    expect(proposal(action)).toThrow(failure(code))
  })

  it('must return its deposit to a reward address', () => {
    expect(inBody({ 20: `818405${keyAddress}8106${anchor}` })).toThrow(
      failure('ADDRESS_WRONG_KIND', 'proposalProcedures[0]'),
    )
  })
})
