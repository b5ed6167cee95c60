import { decodeHeader, encodeHeader, genesisHeaderHash, type Header, headerHash } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { decodePlutusData, encodePlutusData, PlutusDataError } from '@ratatosk/ledger/plutus-data'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeRegistryAction,
  decodeRegistryDatum,
  encodeRegistryAction,
  encodeRegistryDatum,
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
  blockVersion: 1n,
}
const state: ConfirmedState = {
  headerHash: filled(28, 7),
  prevHeaderHash: filled(28, 8),
  utxoRoot: filled(32, 9),
  startTime: 0n,
  endTime: 23n,
  blockVersion: 24n,
}
const link = filled(28, 10)

/** By hand from RFC 8949 and the ledger's CDDL of Plutus data: constructors are tags from 121. */
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
    const operators = [
      { vkey: filled(28, 1), bond: 500_000_000n, activeFrom: 255n },
      { vkey: filled(28, 2), bond: 1n, activeFrom: 0n, activeUntil: 256n },
    ]
    const first = `d8799f${bytes(28, '01')}1a1dcd650018ffd87a80ff`
    const second = `d8799f${bytes(28, '02')}0100d8799f190100ffff`
    const queue = bytes(28, '0a')
    expect(toHex(encodeRegistryDatum({ operators: [], queue: link, running: false }))).toBe(
      `d8799f80${queue}d87980ff`,
    )
    expect(toHex(encodeRegistryDatum({ operators, queue: link, running: true }))).toBe(
      `d8799f9f${first}${second}ff${queue}d87a80ff`,
    )
  })

  it('writes redeemers', () => {
    const queue = (['init', 'deinit', 'commit', 'merge'] as const).map((kind) =>
      toHex(encodeQueueAction({ kind })),
    )
    expect(queue).toEqual(['d87980', 'd87a80', 'd87b80', 'd87c80'])
    expect([encodeQueueSpend(), encodeQueueSpend(100)].map(toHex)).toEqual(['00', '1864'])
    expect(toHex(encodeRefundDatum(link))).toBe(bytes(28, '0a'))
    const remove = encodeQueueAction({ kind: 'remove', headerHash: link, approach: 'already-slashed' })
    expect(toHex(remove)).toBe(`d87d9f${bytes(28, '0a')}d87b80ff`)
    const decided = encodeQueueAction({ kind: 'remove', headerHash: link, approach: 'by-administrator' })
    expect(toHex(decided)).toBe(`d87d9f${bytes(28, '0a')}d87c80ff`)
    expect(toHex(encodeQueueAction({ kind: 'prune', positions: [1, 24, 0] }))).toBe('d87e9f9f01181800ffff')
    expect(toHex(encodeRegistryAction({ kind: 'init' }))).toBe('d87980')
    expect(toHex(encodeRegistryAction({ kind: 'release', operator: link }))).toBe(
      `d87d9f${bytes(28, '0a')}ff`,
    )
    expect(toHex(encodeRegistryAction({ kind: 'set-queue', running: false }))).toBe('d87f9fd87980ff')
    expect(toHex(encodeRegistryAction({ kind: 'set-queue', running: true }))).toBe('d87f9fd87a80ff')
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
  blockVersion: integer,
})
const anyLink = fc.option(hash, { nil: undefined }).map((value) => (value ? { link: value } : {}))
const slashing = fc.constantFrom('active', 'retired')
const approach = fc.oneof(slashing, fc.constantFrom('already-slashed', 'by-administrator'))

describe('decoding what was encoded', () => {
  it('returns headers and the datums of blocks', () => {
    fc.assert(
      fc.property(anyHeader, anyLink, (header, link) => {
        expect(decodeHeader(encodeHeader(header))).toEqual(header)
        expect(decodeBlockDatum(encodeBlockDatum({ header, ...link }))).toEqual({ header, ...link })
      }),
    )
  })

  it('returns the datum of the root', () => {
    const anyState = fc.record({
      headerHash: hash,
      prevHeaderHash: hash,
      utxoRoot: root,
      startTime: integer,
      endTime: integer,
      blockVersion: integer,
    })
    fc.assert(
      fc.property(anyState, anyLink, (state, link) => {
        expect(decodeRootDatum(encodeRootDatum({ state, ...link }))).toEqual({ state, ...link })
      }),
    )
  })

  it('returns the datum of the registry', () => {
    const operator = fc
      .tuple(
        fc.record({ vkey: hash, bond: integer, activeFrom: integer }),
        fc.option(integer, { nil: undefined }),
      )
      .map(([entry, activeUntil]) => (activeUntil === undefined ? entry : { ...entry, activeUntil }))
    fc.assert(
      fc.property(fc.array(operator), hash, fc.boolean(), (operators, queue, running) => {
        const datum = { operators, queue, running }
        expect(decodeRegistryDatum(encodeRegistryDatum(datum))).toEqual(datum)
      }),
    )
  })

  it('returns redeemers', () => {
    const queue: fc.Arbitrary<QueueAction> = fc.oneof(
      fc.record({ kind: fc.constantFrom('init', 'deinit', 'commit', 'merge') }),
      fc.record({ kind: fc.constant('remove'), headerHash: hash, approach }),
      fc.record({ kind: fc.constant('prune'), positions: fc.array(fc.nat()) }),
    )
    const registry: fc.Arbitrary<RegistryAction> = fc.oneof(
      fc.record({ kind: fc.constantFrom('init', 'deinit') }),
      fc.record({ kind: fc.constantFrom('register', 'retire', 'release'), operator: hash }),
      fc.record({ kind: fc.constant('set-queue'), running: fc.boolean() }),
      fc.record({ kind: fc.constant('slash'), operator: hash, approach: slashing }),
    )
    fc.assert(
      fc.property(queue, registry, (queueAction, registryAction) => {
        expect(decodeQueueAction(encodeQueueAction(queueAction))).toEqual(queueAction)
        expect(decodeRegistryAction(encodeRegistryAction(registryAction))).toEqual(registryAction)
      }),
    )
  })
})

describe('decoding other encodings', () => {
  it('accepts definite lengths and chunked byte strings', () => {
    const definite = headerHex.replace('d8799f', 'd8798a').slice(0, -2)
    expect(decodeHeader(fromHex(definite))).toEqual(header)
    const chunked = headerHex.replace(bytes(32, '01'), `5f50${'01'.repeat(16)}50${'01'.repeat(16)}ff`)
    expect(decodeHeader(fromHex(chunked))).toEqual(header)
  })

  it('accepts constructors in their general form, and bignums for small numbers', () => {
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
    ['a truncated header', headerHex.slice(0, -2)],
    ['a short root', headerHex.replace(bytes(32, '01'), bytes(31, '01'))],
    ['another constructor', headerHex.replace('d879', 'd87a')],
    ['an eleventh field', headerHex.replace(/ff$/, '00ff')],
    ['a constructor’s index beyond the protocol', headerHex.replace('d8799f', 'd86682079f')],
    ['a constructor of three parts', headerHex.replace('d8799f', 'd86683009f')],
    ['a map', headerHex.replace(bytes(32, '01'), 'a0')],
    ['a text', headerHex.replace(bytes(32, '01'), '60')],
    ['another tag', headerHex.replace('d879', 'd818')],
    ['deeply nested lists', '81'.repeat(5000)],
  ])('refuses %s', (_, hex) => {
    expect(() => decodeHeader(fromHex(hex))).toThrow(PlutusDataError)
    expect(() => decodeHeader(fromHex(hex))).toThrow(
      expect.objectContaining({ code: 'PLUTUS_DATA_MALFORMED' }),
    )
  })

  it.each([
    'd87f80',
    'd8799f01ff',
    'd87d80',
    `d87d9f${bytes(28, '0a')}d87d80ff`,
    `d87d9f${bytes(27, '0a')}d87a80ff`,
  ])('refuses %s as an action', (hex) => {
    expect(() => decodeQueueAction(fromHex(hex))).toThrow(PlutusDataError)
    expect(() => decodeRegistryAction(fromHex(hex.replace('d87d', 'd87e')))).toThrow(PlutusDataError)
  })

  it.each(['d87b80', 'd87c80'])('refuses to slash by an approach that does not slash: %s', (approach) => {
    expect(() => decodeRegistryAction(fromHex(`d87e9f${bytes(28, '0a')}${approach}ff`))).toThrow(
      PlutusDataError,
    )
  })

  it('throws nothing but PlutusDataError for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (cbor) => {
        try {
          expect(decodePlutusData(encodePlutusData(decodePlutusData(cbor)))).toEqual(decodePlutusData(cbor))
        } catch (error) {
          expect(error).toBeInstanceOf(PlutusDataError)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
