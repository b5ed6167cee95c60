import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { encodeOutput } from '@ratatosk/fixtures'
import { describe, expect, it } from 'vitest'
import { toLayer1Output, toOutput } from '../builder/index.js'
import { failure, hash28, keyAddress, transaction } from '../test/conway-hex.js'
import {
  decodeLayer1Output,
  decodeLayer1Transaction,
  decodeNativeScript,
  decodeTransaction,
  decodeTransactionOutput,
} from './decode.js'
import type { NativeScript } from './types.js'

const address = fromHex(keyAddress.slice(4))
/** Layer 1 has transactions of 16 kB. */
const depths = [1025, 16_000]

const forms: { readonly [form: string]: (depth: number) => string } = {
  lists: (depth) => `${'81'.repeat(depth)}00`,
  'indefinite lists': (depth) => `${'9f'.repeat(depth)}${'ff'.repeat(depth)}`,
  keys: (depth) => `${'a1'.repeat(depth)}00${'00'.repeat(depth)}`,
  values: (depth) => `${'bf00'.repeat(depth)}00${'ff'.repeat(depth)}`,
  constructors: (depth) => `${'d87981'.repeat(depth)}00`,
  'general constructors': (depth) => `${'d8669f009f'.repeat(depth)}${'ffff'.repeat(depth)}`,
}

describe.each(depths)('%i levels', (depth) => {
  it.each(Object.entries(forms))('of %s are read as of layer 1, and refused of layer 2', (_, dataOf) => {
    const data = fromHex(dataOf(depth))
    const content = {
      address,
      value: { lovelace: 1n, assets: new Map() },
      datum: { kind: 'inline', data },
    } as const
    const output = encodeOutput({ address, lovelace: 1n, inlineDatum: data })
    for (const read of [decodeLayer1Output(output), toLayer1Output(content)])
      expect(read.datum.kind === 'inline' && toHex(read.datum.data)).toBe(toHex(data))
    expect(() => decodeTransactionOutput(output)).toThrow(failure('CBOR_TOO_DEEP', 'datum'))
    expect(() => toOutput(content)).toThrow(failure('CBOR_TOO_DEEP', 'datum'))

    const witnesses = toHex(new CborWriter().map(1).uint(4).array(1).raw(data).toBytes())
    const whole = transaction({ witnesses })
    const [datum] = decodeLayer1Transaction(whole).witnesses.datums.values()
    expect(datum && toHex(datum)).toBe(toHex(data))
    expect(() => decodeTransaction(whole)).toThrow(failure('CBOR_TOO_DEEP', 'witnesses.datums[0]'))
  })

  it('of native scripts are read as of layer 1, and refused of layer 2', () => {
    const bytes = fromHex(`${'820181'.repeat(depth)}8200${hash28(1)}`)
    const script = new CborWriter().array(2).uint(0).raw(bytes).toBytes()
    const output = encodeOutput({ address, lovelace: 1n, script })
    const { referenceScript } = decodeLayer1Output(output)
    expect(referenceScript && toHex(referenceScript.bytes)).toBe(toHex(bytes))
    let levels = 0
    let inner = referenceScript?.language === 'native' ? referenceScript.script : undefined
    while (inner !== undefined && 'scripts' in inner) {
      levels++
      inner = inner.scripts[0] as NativeScript
    }
    expect([levels, inner]).toEqual([depth, { kind: 'signature', keyHash: new Uint8Array(28).fill(1) }])
    expect(() => decodeTransactionOutput(output)).toThrow(failure('CBOR_TOO_DEEP', 'referenceScript'))
  })
})

it('metadata is limited in depth on both layers', () => {
  const deep = (depth: number) => transaction({ auxiliaryData: `a100${'81'.repeat(depth)}00` })
  for (const decode of [decodeTransaction, decodeLayer1Transaction]) {
    expect(decode(deep(1024)).auxiliaryData).toBeDefined()
    expect(() => decode(deep(1025))).toThrow(failure('CBOR_TOO_DEEP'))
  }
})

it.each([
  ['a list of another length', `83018200${hash28(1)}00`, 'CBOR_UNEXPECTED_SIZE', ''],
  ['an inner list of another length', `820182${`8200${hash28(1)}`}9f0180ff`, '', ''],
  [
    'an inner indefinite list that is too long',
    `820182${`8200${hash28(1)}`}9f018000ff`,
    'CBOR_UNEXPECTED_SIZE',
    '[1]',
  ],
  ['an unknown kind', '820181820281820600', 'CBOR_UNKNOWN_VARIANT', '[0][0]'],
  ['a key of 27 bytes', `8201818200581b${'00'.repeat(27)}`, 'CBOR_UNEXPECTED_SIZE', '[0]'],
  ['a number for a list', '82018183030105', 'CBOR_UNEXPECTED_TYPE', '[0]'],
])('a native script: %s', (_, hex, code, path) => {
  if (code === '') expect(decodeNativeScript(fromHex(hex)).language).toBe('native')
  else expect(() => decodeNativeScript(fromHex(hex))).toThrow(failure(code, path))
})
