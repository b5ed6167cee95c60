import { describe, expect, it } from 'vitest'
import { HttpError } from './errors.js'
import { decimalParameter, hexParameter, InvalidParameterError, readBy } from './query.js'

describe('InvalidParameterError', () => {
  it.each([
    [undefined, 'Invalid limit: undefined'],
    ['', 'Invalid limit: '],
    ['abc', 'Invalid limit: abc'],
    [['a', 'b'], 'Invalid limit: a,b'],
    [['a', ''], 'Invalid limit: a,'],
  ])('prints %j as %j', (value, message) => {
    expect(new InvalidParameterError('TEST', 'limit', value)).toMatchObject({
      statusCode: 400,
      code: 'TEST_INVALID_PARAMETER',
      message,
    })
  })

  it('adds what to send instead', () => {
    const error = new InvalidParameterError('TEST', 'limit', '0', 'Send limit as a number from 1')
    expect(error.message).toBe('Invalid limit: 0. Send limit as a number from 1')
  })
})

describe('hexParameter', () => {
  it.each(['00ff', '00FF', '00fF'])('reads %s', (value) => {
    expect(hexParameter(value, 2)).toEqual(Uint8Array.of(0, 255))
  })

  it.each([
    undefined,
    '',
    '00f',
    '00ff0',
    '00fg',
    '0x0f',
    ' 0ff',
    '00f\n',
    '００',
    '00f\u0130',
    ['00ff', '00ff'],
  ])('refuses %j', (value) => {
    expect(hexParameter(value, 2)).toBeUndefined()
  })
})

describe('decimalParameter', () => {
  it.each([
    ['0', 0],
    ['1', 1],
    ['007', 7],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('reads %s', (value, number) => {
    expect(decimalParameter(value)).toBe(number)
  })

  it.each([
    undefined,
    '',
    ' 1',
    '1 ',
    '+1',
    '-1',
    '1.0',
    '1e2',
    '0x10',
    '1_000',
    '٣',
    '１',
    'NaN',
    'Infinity',
    '1\n',
    ['1', '2'],
  ])('refuses %j', (value) => {
    expect(decimalParameter(value)).toBeUndefined()
  })

  it('does not check whether a number is too large to be exact', () => {
    expect(Number.isSafeInteger(decimalParameter('9007199254740992'))).toBe(false)
    expect(decimalParameter('9'.repeat(400))).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('readBy', () => {
  const compile = (read: (part: unknown) => unknown) =>
    readBy(read)({ schema: {}, method: 'GET', url: '/', httpPart: 'querystring' })

  it('passes the result on', () => {
    expect(compile((part) => [part])('a')).toEqual({ value: ['a'] })
  })

  it('turns an HttpError into the response', () => {
    const error = new HttpError(400, 'TEST_BAD', 'Bad')
    expect(
      compile(() => {
        throw error
      })('a'),
    ).toEqual({ error })
  })

  it('rethrows any other error', () => {
    const validate = compile(() => {
      throw new TypeError('a defect')
    })
    expect(() => validate('a')).toThrow('a defect')
  })
})
