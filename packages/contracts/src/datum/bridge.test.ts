import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { constrOf, decodePlutusData, isPlutusDataError, listOf } from '@ratatosk/ledger/plutus-data'
import { createMemoryStore, createTrie, proofToCbor } from '@ratatosk/trie'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastChildren } from '../test/bridge/scenarios.js'
import { plutusData } from '../test/plutus-data.js'
import {
  type BridgeDatum,
  decodeBridgeDatum,
  depositId,
  depositOutput,
  encodeBridgeDatum,
  encodeBridgeSpend,
  encodeEventAction,
  encodeSettle,
  serialised,
} from './bridge.js'

const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte)

/** By hand from RFC 8949 and the ledger's CDDL of Plutus data. */
const bytes = (length: number, byte: string) => `58${length.toString(16)}${byte.repeat(length)}`
const depositHex = (datum: string) =>
  `d8799f${bytes(32, '01')}1864${bytes(29, '02')}${datum}${bytes(32, '03')}ff`
const deposit = { kind: 'deposit', id: filled(32, 1), time: 100n, outputHash: filled(32, 3) } as const
const address = filled(29, 2)

describe('the datum of an output at the bridge', () => {
  it.each<readonly [string, BridgeDatum, string]>([
    ['a deposit', { ...deposit, address, datum: { kind: 'none' } }, depositHex('d87980')],
    [
      'a deposit with the hash of a datum',
      { ...deposit, address, datum: { kind: 'hash', hash: filled(32, 4) } },
      depositHex(`d87a9f${bytes(32, '04')}ff`),
    ],
    [
      'a deposit with a datum',
      { ...deposit, address, datum: { kind: 'inline', data: fromHex('a101d87980') } },
      depositHex('d87b9fa101d87980ff'),
    ],
    ['a settlement', { kind: 'settlement', root: filled(32, 5), time: -1n }, `d87a9f${bytes(32, '05')}20ff`],
  ])('of %s has its encoding', (_what, datum, hex) => {
    expect(toHex(encodeBridgeDatum(datum))).toBe(hex)
    expect(decodeBridgeDatum(fromHex(hex))).toEqual(datum)
  })

  it('decodes in other encodings', () => {
    const [id, hash] = [bytes(32, '01'), bytes(32, '03')]
    const chunked = `5f4102581c${'02'.repeat(28)}ff`
    expect(decodeBridgeDatum(fromHex(`d866820085${id}c24164${chunked}d8668202818101${hash}`))).toEqual({
      ...deposit,
      address,
      datum: { kind: 'inline', data: fromHex('9f01ff') },
    })
  })

  it.each([
    '',
    '00',
    'a0',
    'd87980',
    'd87b80',
    'ff',
    `d87a9f${bytes(31, '05')}20ff`,
    `d87a9f${bytes(32, '05')}40ff`,
    `d87a9f${bytes(32, '05')}2000ff`,
    `${depositHex('d87980')}00`,
    depositHex('d8799f01ff'),
    depositHex('d87a80'),
    depositHex(`d87a9f${bytes(31, '04')}ff`),
    depositHex('d87b80'),
    depositHex('d87b9f0102ff'),
    depositHex('d87c9f01ff'),
    depositHex('00'),
    depositHex('d87b9ff6ff'),
    depositHex('d87980').replace(bytes(29, '02'), bytes(30, '02')),
    depositHex('d87980').replace(bytes(29, '02'), 'a0'),
  ])('%s is none', (hex) => {
    expect(() => decodeBridgeDatum(fromHex(hex))).toThrow(
      expect.objectContaining({ name: 'PlutusDataError' }),
    )
  })

  it('throws nothing else, whatever the bytes are', () => {
    const tried = fc.oneof(fc.uint8Array(), plutusData)
    fc.assert(
      fc.property(tried, (cbor) => {
        try {
          decodeBridgeDatum(cbor)
        } catch (error) {
          expect(isPlutusDataError(error)).toBe(true)
        }
      }),
    )
  })
})

describe('serialised', () => {
  it('changes no data that is written as it writes', () => {
    fc.assert(
      fc.property(plutusData, (cbor) => {
        const once = serialised(cbor)
        expect(serialised(once)).toEqual(once)
      }),
    )
  })
})

describe('the redeemers of the bridge', () => {
  it('have their encodings', () => {
    expect(toHex(encodeBridgeSpend({ kind: 'follow', leader: 3 }))).toBe('d8799f03ff')
    expect(toHex(encodeBridgeSpend({ kind: 'tidy' }))).toBe('d87b80')
    const entry = { key: filled(2, 1), output: filled(2, 2), proof: fromHex('80') }
    expect(toHex(encodeBridgeSpend({ kind: 'pay', entries: [entry] }))).toBe('d87a9f9f9f42010142020280ffffff')
    expect(toHex(encodeSettle())).toBe('d87980')
    expect(toHex(encodeEventAction())).toBe('d87980')
  })

  it('show another child of the last branch where its siblings show one subtree', () => {
    const trie = createTrie({ store: createMemoryStore(), history: 0 })
    const keys = Array.from({ length: 60 }, (_, i) => Uint8Array.of(i))
    trie.update(keys.map((key) => ({ type: 'insert', key, value: key })))
    const kinds = keys.map((key) => {
      const proof = trie.prove(key)
      const children = lastChildren(trie, key, proof)
      const entry = { key, output: key, proof: proofToCbor(proof) }
      const lastStep = (withChildren: boolean) => {
        const entries = [{ ...entry, ...(withChildren && children && { children }) }]
        const { fields } = constrOf(decodePlutusData(encodeBridgeSpend({ kind: 'pay', entries })), 'pay')
        const [, , steps] = listOf(listOf(fields[0], 'entries')[0], 'entry')
        return constrOf(listOf(steps, 'proof').at(-1), 'step')
      }
      const { index, fields } = lastStep(true)
      if (index !== 0 || fields.length === 2) {
        expect(lastStep(false)).toEqual({ index, fields })
        return 'as it is'
      }
      expect(() => lastStep(false)).toThrow(RangeError)
      expect(children).toHaveLength(512)
      return 'with a child'
    })
    expect(new Set(kinds).size).toBe(2)
  })

  it('cannot be written for children that do not leave a branch', () => {
    const children = concatBytes(filled(64, 1), new Uint8Array(448))
    const siblings = concatBytes(...[3, 2, 1].map((level) => emptyAt(level)), filled(32, 1))
    const proof = concatBytes(
      fromHex('9fd8799f005f5840'),
      siblings.subarray(0, 64),
      fromHex('5840'),
      siblings.subarray(64),
      fromHex('ffffff'),
    )
    const entries = [{ key: filled(1, 1), output: filled(1, 1), proof, children }]
    expect(() => encodeBridgeSpend({ kind: 'pay', entries })).toThrow(RangeError)
  })
})

const emptyAt = (level: number): Uint8Array =>
  level === 0 ? new Uint8Array(32) : blake2b256(concatBytes(emptyAt(level - 1), emptyAt(level - 1)))

describe('a deposit', () => {
  it('has the hash of the first input as its id', () => {
    const reference = { transactionId: filled(32, 7), index: 24 }
    expect(depositId(reference)).toEqual(blake2b256(fromHex(`d8799f${bytes(32, '07')}1818ff`)))
  })

  it('becomes an output with policies and names in ascending order', () => {
    const [one, two] = ['11', '22'].map((byte) => byte.repeat(28)) as [string, string]
    const names = new Map([
      ['bb', 2n],
      ['aabb', 1n],
    ])
    const assets = new Map([
      [two, new Map([['', 2n ** 32n]])],
      [one, names],
    ])
    const output = depositOutput({ address, lovelace: 300n, assets, datum: { kind: 'none' } })
    expect(toHex(output)).toBe(
      `a200${bytes(29, '02')}018219012ca2581c${one}a242aabb0141bb02581c${two}a1401b0000000100000000`,
    )
  })
})
