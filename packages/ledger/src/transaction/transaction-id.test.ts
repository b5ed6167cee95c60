import { describe, expect, it } from 'vitest'
import { blake2b256 } from '#crypto'
import { transactionIdOf } from './transaction-id.js'

const bytes = (hex: string) => Buffer.from(hex, 'hex')

describe('transactionIdOf', () => {
  it.each([
    ['a definite array of four', '84a0a0f5f6', 'a0'],
    ['an indefinite array', '9fa0a0f5f6ff', 'a0'],
    ['a body with a longer head', '84b800a0f5f6', 'b800'],
  ])('hashes the bytes of the body as they are: %s', (_form, hex, body) => {
    expect(transactionIdOf(bytes(hex))).toEqual(blake2b256(bytes(body)))
  })

  it.each(['', '40', '01', 'f6', '83a0a0f5', '8440a0f5f6', '84', '84a10059012c', 'a0', 'ff', '9f'])(
    'answers undefined for what is not shaped like a transaction: %s',
    (hex) => {
      expect(transactionIdOf(bytes(hex))).toBeUndefined()
    },
  )
})
