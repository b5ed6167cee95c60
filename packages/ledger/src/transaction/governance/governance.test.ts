import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../bytes.js'
import { CborWriter } from '../../cbor/writer.js'
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
  ])('is read: %s', (kind, hex, fields) => {
    expect(certificate(hex)().certificates).toMatchObject([{ kind, bytes: fromHex(hex), ...fields }])
  })

  it('of registration alone needs no witness', () => {
    expect(certificate(`8200${key(1)}`)().certificates[0]).not.toHaveProperty('witness')
  })

  it('occurs once, though the same kind may occur again', () => {
    expect(inBody({ 4: `828200${key(1)}8200${key(2)}` })().certificates).toHaveLength(2)
    expect(inBody({ 4: `828200${key(1)}8200${key(1)}` })).toThrow(failure('duplicate', 'certificates[1]'))
  })

  it.each([
    ['genesis delegation', `8405${hash28(1)}${hash28(2)}${hash32(3)}`, 'unknown-variant'],
    ['instantaneous rewards', '8206820005', 'unknown-variant'],
    ['kind 19', `8213${key(1)}`, 'unknown-variant'],
    ['an item too many', `8300${key(1)}00`, 'unexpected-size'],
    ['an item too few', `8202${key(1)}`, 'unexpected-size'],
    ['a credential of kind 2', `82008202${hash28(1)}`, 'unknown-variant'],
    ['a credential of three items', `82008300${hash28(1)}00`, 'unexpected-size'],
    ['a hash of 27 bytes', `82008200581b${'00'.repeat(27)}`, 'unexpected-size'],
    ['a representative of kind 4', `8309${key(1)}8104`, 'unknown-variant'],
    ['a representative that abstains with a hash', `8309${key(1)}8202${hash28(1)}`, 'unexpected-size'],
    ['a URL of 129 bytes', `8312${key(1)}82${url129}${hash32(1)}`, 'out-of-range'],
    ['a URL that is no UTF-8', `8312${key(1)}8261ff${hash32(1)}`, 'invalid-utf8'],
    ['a margin over 1', pool(fraction('03', '02')), 'out-of-range'],
    ['a margin without its tag', pool('820102'), 'unexpected-type'],
    ['a margin over nothing', pool(fraction('00', '00')), 'out-of-range'],
    ['a negative margin', pool(fraction('20', '02')), 'out-of-range'],
    ['an owner twice', pool().replace(hash28(5), hash28(4)), 'duplicate'],
    ['a payment address for rewards', pool().replace(account(3), keyAddress), 'unknown-type'],
    ['a relay of kind 3', pool(half, '818203f6'), 'unknown-variant'],
    ['a port over 16 bits', pool(half, '8183011a000100006161'), 'out-of-range'],
    ['an IPv4 of five bytes', pool(half, '818400f64501020304056161'), 'unexpected-size'],
  ])('is not: %s', (_, hex, code) => {
    expect(certificate(hex)).toThrow(failure(code))
  })

  it('may have fractions whose lowest terms fit 64 bits', () => {
    const big = 'c249020000000000000000'
    expect(certificate(pool(fraction('c249010000000000000000', big)))().certificates).toHaveLength(1)
    expect(certificate(pool(fraction('01', big)))).toThrow(failure('out-of-range'))
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
  ])('are read of voters of kind %s: %s by %s', (variant, role, kind) => {
    const ballot = `a1${action(1)}8201f6`
    expect(votes(`a1820${variant}${hash28(7)}${ballot}`)().votingProcedures).toEqual([
      { voter: { role, credential: { kind, hash: bytes28(7) } }, bytes: fromHex(ballot) },
    ])
  })

  it.each([
    ['a voter of kind 5', `a18205${hash28(7)}a1${action(1)}8201f6`, 'unknown-variant'],
    ['a voter without votes', `a18204${hash28(7)}a0`, 'empty'],
    [
      'a voter twice',
      `a28204${hash28(7)}a1${action(1)}8201f68204${hash28(7)}a1${action(2)}8201f6`,
      'duplicate',
    ],
    ['an action twice', `a18204${hash28(7)}a2${action(1)}8201f6${action(1, '1800')}8200f6`, 'duplicate'],
    ['a vote of 3', `a18204${hash28(7)}a1${action(1)}8203f6`, 'out-of-range'],
    ['a vote without anchor or null', `a18204${hash28(7)}a1${action(1)}8101`, 'unexpected-size'],
    ['an action over 16 bits', `a18204${hash28(7)}a1${action(1, '1a00010000')}8201f6`, 'out-of-range'],
    ['a list', '80', 'unexpected-type'],
  ])('are not: %s', (_, hex, code) => {
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
  ])('is read: %s', (kind, action, fields) => {
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
    ['kind 7', '8107', 'unknown-variant'],
    ['a change without policy or null', '8300f6a0', 'unexpected-size'],
    ['parameter 12', update('a10c00'), 'unknown-field'],
    ['a parameter twice', update('a200050006'), 'duplicate'],
    ['a size over 32 bits', update('a1021b0000000100000000'), 'out-of-range'],
    ['a size over 16 bits', update('a1041a00010000'), 'out-of-range'],
    ['execution units over 63 bits', update('a11482011b8000000000000000'), 'out-of-range'],
    ['a cost over 63 bits', update('a112a100811b8000000000000000'), 'out-of-range'],
    ['prices of one', update(`a11381${half}`), 'unexpected-size'],
    ['four pool thresholds', update(`a1181984${half.repeat(4)}`), 'unexpected-size'],
    ['protocol version 13', '8301f6820d00', 'out-of-range'],
    ['a withdrawal to a payment address', `8302a1${keyAddress}05f6`, 'unknown-type'],
    ['a withdrawal twice', `8302a2${account(1)}05${account(1)}05f6`, 'duplicate'],
    ['a member removed twice', `8504f682${key(1)}${key(1)}a0${half}`, 'duplicate'],
    ['a member elected twice', `8504f680a2${key(1)}00${key(1)}01${half}`, 'duplicate'],
  ])('is not: %s', (_, action, code) => {
    expect(proposal(action)).toThrow(failure(code))
  })

  it('pays its deposit back to a reward address', () => {
    expect(inBody({ 20: `818405${keyAddress}8106${anchor}` })).toThrow(
      failure('unknown-type', 'proposalProcedures[0]'),
    )
  })
})
