import { Type } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import {
  atMost,
  checkedPort,
  dateText,
  decimalText,
  encoded,
  enumText,
  hexText,
  integer,
  isWrongResult,
  operationResult,
  portOutcome,
  portResult,
  timeText,
} from './index.js'

const wrong = (make: () => unknown, message: string) => {
  let thrown: unknown
  try {
    make()
  } catch (error) {
    thrown = error
  }
  expect(thrown).toEqual(new TypeError(message))
  expect(isWrongResult(thrown)).toBe(true)
}

test('a result that does not fit is refused by method and field', () => {
  const Block = Type.Object(
    { id: Type.Uint8Array(), fees: Type.Array(Type.BigInt()), at: Type.Optional(Type.Date()) },
    { title: 'Block' },
  )
  const block = { id: new Uint8Array(32), fees: [1n] }
  expect(portResult('blocks.find', Block, block)).toBe(block)
  for (const [given, fault] of [
    [undefined, 'Expected object'],
    [null, 'Expected object'],
    [{}, 'id: Expected required property'],
    [{ ...block, id: 'ab' }, 'id: Expected Uint8Array'],
    [{ ...block, fees: [1n, 2] }, 'fees.1: Expected bigint'],
    [{ ...block, at: 'now' }, 'at: Expected Date'],
  ] as const)
    wrong(() => portResult('blocks.find', Block, given), `blocks.find() must resolve to Block: ${fault}`)
  expect(isWrongResult(new TypeError('of a port'))).toBe(false)
})

test('an outcome has one of the known kinds', () => {
  const shapes = { paid: { id: Type.String({ minLength: 1 }) }, busy: {} }
  const check = (outcome: unknown) => portOutcome('payer.pay', shapes, outcome as { kind: 'busy' })
  expect(check({ kind: 'busy' })).toEqual({ kind: 'busy' })
  for (const given of [undefined, null, 'busy', {}, { kind: 'toString' }])
    wrong(() => check(given), 'payer.pay() must resolve to { kind: paid | busy }')
  wrong(
    () => check({ kind: 'paid', id: '' }),
    'payer.pay() must resolve to { kind: paid }: id: Expected string length greater or equal to 1',
  )
  wrong(
    () => operationResult('run', { kind: 'refused', code: 'A' } as never),
    'run() must resolve to { kind: refused }: message: Expected required property',
  )
})

test('a list has no more entries than were asked for', () => {
  expect(atMost('blocks.list', 2, [1, 2])).toEqual([1, 2])
  wrong(() => atMost('blocks.list', 2, [1, 2, 3]), 'blocks.list() must resolve to at most 2 entries')
})

test('an answer that does not fit its schema is refused by the field of the port', () => {
  const Answer = Type.Object(
    {
      hash: hexText('^[0-9a-f]{4}$', ''),
      fee: decimalText(''),
      at: dateText(''),
      time: timeText(''),
      height: integer({ minimum: 1 }),
      state: enumText(['new', 'old'], ''),
    },
    { title: 'Answer' },
  )
  const answer = {
    hash: Uint8Array.of(1, 2),
    fee: 5n,
    at: new Date(0),
    time: 0n,
    height: 1n,
    state: 'new',
  } as const
  const at = '1970-01-01T00:00:00.000Z'
  expect(encoded(Answer, answer, 'port.read')).toEqual({
    ...answer,
    hash: '0102',
    fee: '5',
    at,
    time: at,
    height: 1,
  })
  for (const [given, fault] of [
    [undefined, 'Expected object'],
    [{}, 'hash: Expected required property'],
    [{ ...answer, hash: 'abcd' }, 'hash: Expected Uint8Array'],
    [{ ...answer, hash: Uint8Array.of(1) }, "hash: Expected string to match '^[0-9a-f]{4}$'"],
    [{ ...answer, fee: 5 }, 'fee: Expected bigint'],
    [{ ...answer, at: 5 }, 'at: Expected Date'],
    [{ ...answer, at: new Date(Number.NaN) }, 'at: Expected Date'],
    [{ ...answer, time: 5 }, 'time: Expected bigint'],
    [{ ...answer, state: 'odd' }, 'state: Expected one of new, old'],
    [{ ...answer, height: 0n }, 'height: Expected integer to be greater or equal to 1'],
  ] as const)
    wrong(
      () => encoded(Answer, given as unknown as typeof answer, 'port.read'),
      `port.read() must resolve to Answer: ${fault}`,
    )
})

test('a checked port answers later, and names what does not fit; undefined may be allowed', async () => {
  const results = { count: Type.Integer({ title: 'a number' }), last: Type.Optional(Type.String()) }
  const port = checkedPort('stock', { count: (given: unknown) => given, last: () => undefined }, results)
  expect(await Promise.all([port.count(1), port.last()])).toEqual([1, undefined])
  await expect(port.count(undefined)).rejects.toThrow(
    'stock.count() must resolve to a number: Expected integer',
  )
})
