import { fromHex, toHex } from '@ratatosk/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MalformedData } from '../errors.js'
import { decodeHeader, encodeHeader, genesisHeaderHash, type Header, headerHash } from './header.js'
import { decodePlutusData, encodePlutusData } from './plutus-data.js'
import {
  decodeRegistryAction,
  decodeRegistryDatum,
  encodeRegistryAction,
  encodeRegistryDatum,
  endOfTurn,
  operatorInTurn,
  type RegistryAction,
} from './registry.js'
import {
  blockTokenName,
  type ConfirmedState,
  decodeBlockDatum,
  decodeQueueAction,
  decodeRootDatum,
  encodeBlockDatum,
  encodeQueueAction,
  encodeQueueSpend,
  encodeRefundDatum,
  encodeRootDatum,
  headerHashOfToken,
  type QueueAction,
  rootTokenName,
} from './state-queue.js'

const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte)

const header: Header = {
  prevUtxosRoot: filled(32, 1),
  utxosRoot: filled(32, 2),
  transactionsRoot: filled(32, 3),
  depositsRoot: filled(32, 4),
  withdrawalsRoot: filled(32, 5),
  startTime: 1_700_000_000_000n,
  endTime: 1_700_000_060_000n,
  prevHeaderHash: genesisHeaderHash(),
  operatorVkey: filled(28, 6),
  protocolVersion: 1n,
}
const state: ConfirmedState = {
  headerHash: filled(28, 7),
  prevHeaderHash: filled(28, 8),
  utxoRoot: filled(32, 9),
  startTime: 0n,
  endTime: 23n,
  protocolVersion: 24n,
}
const link = filled(28, 10)

/** Written by hand after RFC 8949 and the ledger's CDDL of Plutus data: constructors are tags 121 and on. */
const bytes = (length: number, byte: string) => `58${length.toString(16)}${byte.repeat(length)}`
const headerHex = [
  'd8799f',
  ...['01', '02', '03', '04', '05'].map((byte) => bytes(32, byte)),
  '1b0000018bcfe56800',
  '1b0000018bcfe65260',
  bytes(28, '00'),
  bytes(28, '06'),
  '01ff',
].join('')
const stateHex = `d8799f${bytes(28, '07')}${bytes(28, '08')}${bytes(32, '09')}00171818ff`
const linkHex = `d8799f${bytes(28, '0a')}ff`

describe('golden bytes', () => {
  it('writes the header', () => {
    expect(toHex(encodeHeader(header))).toBe(headerHex)
    expect(toHex(headerHash(header))).toBe('d0b6903fb5f01578f7de0669985ffd373ed57c3d7b806c75c18150e2')
  })

  it('writes the datums of elements', () => {
    expect(toHex(encodeRootDatum({ state, link }))).toBe(`d8799f${stateHex}${linkHex}ff`)
    expect(toHex(encodeRootDatum({ state }))).toBe(`d8799f${stateHex}d87a80ff`)
    expect(toHex(encodeBlockDatum({ header, link }))).toBe(`d8799f${headerHex}${linkHex}ff`)
    expect(toHex(encodeBlockDatum({ header }))).toBe(`d8799f${headerHex}d87a80ff`)
  })

  it('writes the datum of the registry', () => {
    const active = [{ vkey: filled(28, 1), bond: 500_000_000n }]
    const retired = [{ vkey: filled(28, 2), bond: 1n, releaseTime: 256n }]
    expect(toHex(encodeRegistryDatum({ active: [], retired: [] }))).toBe('d8799f8080ff')
    expect(toHex(encodeRegistryDatum({ active, retired }))).toBe(
      `d8799f9fd8799f${bytes(28, '01')}1a1dcd6500ffff9fd8799f${bytes(28, '02')}01190100ffffff`,
    )
  })

  it('writes redeemers', () => {
    const queue = (['init', 'deinit', 'commit', 'merge'] as const).map((kind) =>
      toHex(encodeQueueAction({ kind })),
    )
    expect(queue).toEqual(['d87980', 'd87a80', 'd87b80', 'd87c80'])
    expect(toHex(encodeQueueSpend())).toBe('d87980')
    expect(toHex(encodeRefundDatum(link))).toBe(bytes(28, '0a'))
    const remove = encodeQueueAction({ kind: 'remove', headerHash: link, approach: 'already-slashed' })
    expect(toHex(remove)).toBe(`d87d9f${bytes(28, '0a')}d87b80ff`)
    expect(toHex(encodeRegistryAction({ kind: 'init' }))).toBe('d87980')
    expect(toHex(encodeRegistryAction({ kind: 'release', operator: link }))).toBe(
      `d87d9f${bytes(28, '0a')}ff`,
    )
    const slash = encodeRegistryAction({ kind: 'slash', operator: link, approach: 'retired' })
    expect(toHex(slash)).toBe(`d87e9f${bytes(28, '0a')}d87a80ff`)
  })

  it('names tokens', () => {
    expect(Buffer.from(rootTokenName('RATATOSK')).toString()).toBe('RATATOSK_CONFIRMED_STATE')
    expect(toHex(blockTokenName(link))).toBe(`4d424c43${'0a'.repeat(28)}`)
    expect(headerHashOfToken(blockTokenName(link))).toEqual(link)
    expect(headerHashOfToken(rootTokenName('RATATOSK'))).toBeUndefined()
    expect(headerHashOfToken(Buffer.concat([Buffer.from('MBLD'), link]))).toBeUndefined()
  })
})

const hash = fc.uint8Array({ minLength: 28, maxLength: 28 })
const root = fc.uint8Array({ minLength: 32, maxLength: 32 })
const integer = fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n })
const anyHeader: fc.Arbitrary<Header> = fc.record({
  prevUtxosRoot: root,
  utxosRoot: root,
  transactionsRoot: root,
  depositsRoot: root,
  withdrawalsRoot: root,
  startTime: integer,
  endTime: integer,
  prevHeaderHash: hash,
  operatorVkey: hash,
  protocolVersion: integer,
})
const anyLink = fc.option(hash, { nil: undefined }).map((value) => (value ? { link: value } : {}))
const approach = fc.constantFrom('active', 'retired', 'already-slashed')

describe('reads what it writes', () => {
  it('headers and the datums of blocks', () => {
    fc.assert(
      fc.property(anyHeader, anyLink, (header, link) => {
        expect(decodeHeader(encodeHeader(header))).toEqual(header)
        expect(decodeBlockDatum(encodeBlockDatum({ header, ...link }))).toEqual({ header, ...link })
      }),
    )
  })

  it('the datum of the root', () => {
    const anyState = fc.record({
      headerHash: hash,
      prevHeaderHash: hash,
      utxoRoot: root,
      startTime: integer,
      endTime: integer,
      protocolVersion: integer,
    })
    fc.assert(
      fc.property(anyState, anyLink, (state, link) => {
        expect(decodeRootDatum(encodeRootDatum({ state, ...link }))).toEqual({ state, ...link })
      }),
    )
  })

  it('the datum of the registry', () => {
    const active = fc.array(fc.record({ vkey: hash, bond: integer }))
    const retired = fc.array(fc.record({ vkey: hash, bond: integer, releaseTime: integer }))
    fc.assert(
      fc.property(fc.record({ active, retired }), (datum) => {
        expect(decodeRegistryDatum(encodeRegistryDatum(datum))).toEqual(datum)
      }),
    )
  })

  it('redeemers', () => {
    const queue: fc.Arbitrary<QueueAction> = fc.oneof(
      fc.record({ kind: fc.constantFrom('init', 'deinit', 'commit', 'merge') }),
      fc.record({ kind: fc.constant('remove'), headerHash: hash, approach }),
    )
    const registry: fc.Arbitrary<RegistryAction> = fc.oneof(
      fc.record({ kind: fc.constantFrom('init', 'deinit') }),
      fc.record({ kind: fc.constantFrom('register', 'retire', 'release'), operator: hash }),
      fc.record({ kind: fc.constant('slash'), operator: hash, approach }),
    )
    fc.assert(
      fc.property(queue, registry, (queueAction, registryAction) => {
        expect(decodeQueueAction(encodeQueueAction(queueAction))).toEqual(queueAction)
        expect(decodeRegistryAction(encodeRegistryAction(registryAction))).toEqual(registryAction)
      }),
    )
  })
})

describe('reads the encodings of others', () => {
  it('takes definite lengths and byte strings in chunks', () => {
    const definite = headerHex.replace('d8799f', 'd8798a').slice(0, -2)
    expect(decodeHeader(fromHex(definite))).toEqual(header)
    const chunked = headerHex.replace(bytes(32, '01'), `5f50${'01'.repeat(16)}50${'01'.repeat(16)}ff`)
    expect(decodeHeader(fromHex(chunked))).toEqual(header)
  })

  it('takes constructors with their index as a number, and bignums where a number would do', () => {
    const general = headerHex.replace('d8799f', 'd86682009f')
    expect(decodeHeader(fromHex(general))).toEqual(header)
    expect(decodeHeader(fromHex(`${general.replace('d86682', 'd8669f')}ff`))).toEqual(header)
    expect(decodeHeader(fromHex(headerHex.replace(/01ff$/, 'c24101ff')))).toEqual(header)
    expect(decodeHeader(fromHex(headerHex.replace(/01ff$/, 'c25f40420001ffff')))).toEqual(header)
    expect(decodePlutusData(fromHex('c35f4100ff'))).toBe(-1n)
    expect(decodePlutusData(fromHex('c240'))).toBe(0n)
  })

  it.each([
    ['nothing', ''],
    ['an integer', '01'],
    ['trailing bytes', `${headerHex}00`],
    ['an end too early', headerHex.slice(0, -2)],
    ['a short root', headerHex.replace(bytes(32, '01'), bytes(31, '01'))],
    ['another constructor', headerHex.replace('d879', 'd87a')],
    ['an eleventh field', headerHex.replace(/ff$/, '00ff')],
    ['a constructor’s index beyond the protocol', headerHex.replace('d8799f', 'd86682079f')],
    ['a constructor of three parts', headerHex.replace('d8799f', 'd86683009f')],
    ['a map', headerHex.replace(bytes(32, '01'), 'a0')],
    ['a text', headerHex.replace(bytes(32, '01'), '60')],
    ['a tag of something else', headerHex.replace('d879', 'd818')],
    ['lists in lists without end', '81'.repeat(5000)],
  ])('refuses %s', (_, hex) => {
    expect(() => decodeHeader(fromHex(hex))).toThrow(MalformedData)
    expect(() => decodeHeader(fromHex(hex))).toThrow(expect.objectContaining({ code: 'malformed-data' }))
  })

  it.each([
    'd87f80',
    'd8799f01ff',
    'd87d80',
    `d87d9f${bytes(28, '0a')}d87c80ff`,
    `d87d9f${bytes(27, '0a')}d87a80ff`,
  ])('refuses %s as an action', (hex) => {
    expect(() => decodeQueueAction(fromHex(hex))).toThrow(MalformedData)
    expect(() => decodeRegistryAction(fromHex(hex.replace('d87d', 'd87e')))).toThrow(MalformedData)
  })

  it('fails with its own error alone on whatever bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (cbor) => {
        try {
          expect(decodePlutusData(encodePlutusData(decodePlutusData(cbor)))).toEqual(decodePlutusData(cbor))
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedData)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('turns', () => {
  const active = [1, 2, 3].map((byte) => ({ vkey: filled(28, byte), bond: 1n }))
  const registry = { active, retired: [] }

  it('go round in the order of the registry', () => {
    const inTurn = [0n, 59n, 60n, 120n, 180n].map((time) => operatorInTurn(registry, time, 60n))
    expect(inTurn).toEqual([active[0], active[0], active[1], active[2], active[0]])
    expect(operatorInTurn({ active: [], retired: [] }, 0n, 60n)).toBeUndefined()
  })

  it('end where the next begins', () => {
    expect([0n, 59n, 60n].map((time) => endOfTurn(time, 60n))).toEqual([60n, 60n, 120n])
  })
})
