import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { concatBytes, fromHex, isDecodeError, isWellFormed } from '@ratatosk/cbor'
import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blake2b256 } from '#crypto'
import { decodeAddress, decodeBech32Address } from '../address/address.js'
import { decodeTransaction, decodeTransactionBody, decodeTransactionOutput } from '../transaction/decode.js'
import { decodeOutputReference } from '../transaction/output-reference.js'
import {
  account,
  anchor,
  body,
  half,
  hash28,
  hash32,
  input,
  key,
  keyAddress,
  transaction,
} from './conway-hex.js'

/** Total number of inputs; RATATOSK_FUZZ=1000000 is the long run. */
const inputs = Number(process.env.RATATOSK_FUZZ ?? 5_000)
/** Every run has the same inputs, unless another seed is given. */
const seed = Number(process.env.RATATOSK_FUZZ_SEED ?? 0)
const settings = (share: number) => ({ numRuns: Math.ceil(inputs * share), seed })
const timeout = 60_000 + inputs

/** A transaction with something in almost every field. */
const redeemersAndDatums = '0481d8799f0102ff05a18200008200820102'

const everything = transaction({
  body: body({
    3: '1a00ffffff',
    4:
      `828a03${hash28(1)}${hash32(2)}0001${half}${account(3)}81${hash28(4)}8182026161f6` +
      `8410${key(1)}05${anchor}`,
    5: `a1${account(1)}05`,
    9: `a1${hash28(1)}a14020`,
    13: `81${input(4)}`,
    14: `d9010281${hash28(1)}`,
    16: `a300${keyAddress}018203a1${hash28(1)}a1410105028201d81843d87980`,
    18: `9f${input(5)}ff`,
    19: `a18204${hash28(7)}a182${hash32(1)}008201f6`,
    20: `818405${account(1)}8400f6a200050a${half}f6${anchor}`,
    22: '01',
  }),
  witnesses: `a4008182${hash32(1)}5840${'05'.repeat(64)}01818303018182041864${redeemersAndDatums}`,
  auxiliaryData: 'd90103a200a1015f41614162ff018182041864',
})

function realTransactions(): Uint8Array[] {
  const folder = vectorsFolder('ledger-scenarios/scenarios')
  if (folder === undefined) return []
  const scenarios = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')))
  return scenarios.map(({ transaction: hex }) => fromHex(hex)).filter((bytes) => bytes.length <= 4096)
}
const transactions = [everything, ...realTransactions()]

/** CBOR heads that claim long contents, end items early, or are out of place. */
const heads = [
  'ff',
  '9f',
  'bf',
  '5f',
  '7f',
  '1c',
  'f6',
  'f97e00',
  'd90102',
  'd818',
  'c25f',
  '9b1000000000000000',
  'bb00000000ffffffff',
  '5bffffffffffffffff',
  '1bffffffffffffffff',
  '3bffffffffffffffff',
  'a0',
  '80',
  '40',
  '60',
].map(fromHex)

type Mutation = (bytes: Uint8Array) => Uint8Array
const at = (bytes: Uint8Array, position: number): number => position % (bytes.length + 1)
const cut = (bytes: Uint8Array, from: number, to: number, put: Uint8Array = new Uint8Array()): Uint8Array =>
  concatBytes(bytes.subarray(0, from), put, bytes.subarray(to))

const position = fc.nat(4096)
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(position, fc.nat(255)).map(
    ([where, byte]): Mutation =>
      (bytes) => {
        const from = at(bytes, where)
        return cut(bytes, from, from + 1, Uint8Array.of(byte))
      },
  ),
  fc.tuple(position, fc.nat(7)).map(
    ([where, bit]): Mutation =>
      (bytes) => {
        const from = at(bytes, where)
        return cut(bytes, from, from + 1, Uint8Array.of((bytes[from] ?? 0) ^ (1 << bit)))
      },
  ),
  fc.tuple(position, fc.constantFrom(...heads), fc.boolean()).map(
    ([where, head, instead]): Mutation =>
      (bytes) => {
        const from = at(bytes, where)
        return cut(bytes, from, instead ? from + head.length : from, head)
      },
  ),
  fc.tuple(position, fc.nat(64)).map(
    ([where, length]): Mutation =>
      (bytes) => {
        const from = at(bytes, where)
        return cut(bytes, from, from + length)
      },
  ),
  fc.tuple(position, position, fc.nat(64)).map(
    ([where, source, length]): Mutation =>
      (bytes) => {
        const from = at(bytes, where)
        const begin = at(bytes, source)
        return cut(bytes, from, from, bytes.subarray(begin, begin + length))
      },
  ),
  fc.tuple(position, fc.constantFrom(0x81, 0x9f, 0xa1, 0xc6, 0xd8, 0x5f, 0xff), fc.nat(16_384)).map(
    ([where, byte, length]): Mutation =>
      (bytes) => {
        const from = at(bytes, where)
        return cut(bytes, from, from, new Uint8Array(length).fill(byte))
      },
  ),
)
// The last mutation inserts up to 16 kB, so it is rare.
const mutated = fc
  .tuple(fc.constantFrom(...transactions), fc.array(mutation, { minLength: 1, maxLength: 4 }))
  .map(([bytes, mutations]) => mutations.reduce((current, mutate) => mutate(current), bytes))

/** The result, or undefined if the typed error was thrown; any other error fails the test. */
function decoded<T>(decode: (bytes: Uint8Array) => T, bytes: Uint8Array): T | undefined {
  try {
    return decode(bytes)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    if (!Number.isInteger(error.offset) || error.offset > bytes.length)
      throw new Error('no offset', { cause: error })
    return undefined
  }
}

describe(`decoders and hostile bytes (${inputs} inputs)`, () => {
  it(
    'a mutated transaction is refused with the typed error, or is well-formed and hashed over its own bytes',
    () => {
      let taken = 0
      fc.assert(
        fc.property(mutated, (bytes) => {
          const result = decoded(decodeTransaction, bytes)
          if (result === undefined) return
          taken++
          expect(isWellFormed(bytes)).toBe(true)
          expect(result.id).toEqual(blake2b256(result.body.bytes))
          expect(result.body.bytes.buffer).toBe(bytes.buffer)
        }),
        settings(0.6),
      )
      // Both outcomes occur often enough for the test to mean something.
      expect(taken).toBeGreaterThan(inputs / 200)
      expect(taken).toBeLessThan(inputs / 2)
    },
    timeout,
  )

  it(
    'random bytes are refused with the typed error by every decoder',
    () => {
      const decoders = [
        decodeTransaction,
        decodeTransactionBody,
        decodeTransactionOutput,
        decodeOutputReference,
        decodeAddress,
      ]
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
          for (const decode of decoders) decoded<unknown>(decode, bytes)
          isWellFormed(bytes)
        }),
        settings(0.2),
      )
    },
    timeout,
  )

  it(
    'random texts are refused with the typed error',
    () => {
      const bech32 = fc.stringMatching(/^(addr|stake)(_test)?1[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{6,120}$/)
      fc.assert(
        fc.property(fc.oneof(fc.string({ unit: 'binary' }), bech32), (text) => {
          decoded(() => decodeBech32Address(text), new Uint8Array())
        }),
        settings(0.1),
      )
    },
    timeout,
  )

  it(
    '16 kB of a repeated pattern overflow no stack and use little memory',
    () => {
      const before = process.memoryUsage().rss
      const pattern = fc.uint8Array({ minLength: 1, maxLength: 4 })
      fc.assert(
        fc.property(fc.constantFrom(everything, ...transactions), position, pattern, (bytes, where, few) => {
          const bomb = new Uint8Array(16_384).map((_, index) => few[index % few.length] ?? 0)
          decoded(decodeTransaction, cut(bytes, at(bytes, where), bytes.length, bomb))
          decoded(decodeTransaction, bomb)
          isWellFormed(bomb)
        }),
        settings(0.1),
      )
      expect(process.memoryUsage().rss - before).toBeLessThan(256 * 2 ** 20)
    },
    timeout,
  )
})

it('the transaction that is mutated is valid and has something in almost every field', () => {
  const { body: parts, witnesses, auxiliaryData } = decodeTransaction(everything)
  expect(parts.certificates.map(({ kind }) => kind)).toEqual(['pool_registration', 'reg_drep_cert'])
  expect([
    parts.votingProcedures.length,
    parts.proposalProcedures.length,
    witnesses.redeemers.length,
  ]).toEqual([1, 1, 1])
  expect(auxiliaryData?.scripts).toHaveLength(1)
})
