import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import {
  checkOptions,
  functionsByName,
  hasMethods,
  oneOf,
  operatorAccessRules,
  optionalInteger,
  optionalTimer,
} from './options.js'

const rules = {
  queue: hasMethods('add', 'size'),
  network: oneOf('mainnet', 'testnet'),
  maxSize: optionalInteger(1),
  waitMs: optionalTimer(1),
  probes: Type.Optional(functionsByName('status')),
  ...operatorAccessRules,
}
const method = () => undefined
const good = { queue: { add: method, size: method }, network: 'testnet' }

const check = (options: object) => checkOptions('@example/plugin', rules, options)

describe('checkOptions', () => {
  class Queue {
    add() {}
    size() {}
  }

  it.each([
    good,
    { ...good, queue: new Queue() },
    { ...good, maxSize: 1, probes: { queue: method }, prefix: '/v1', logLevel: 'warn', other: undefined },
    { ...good, maxSize: undefined, probes: {} },
    { ...good, maxSize: 2 ** 31, waitMs: 2 ** 31 - 1, operatorToken: 'a b~' },
    { ...good, allowedHosts: ['node.example', '::1', '[::1]', '192.168.1.20'], operatorToken: 'secret' },
  ])('accepts %j', (options) => {
    expect(check(options)).toBeUndefined()
  })

  const methods = 'queue must be an object with the methods add, size'
  const integer = 'maxSize must be a whole number from 1'
  const timer = 'waitMs must be a whole number from 1 to 2147483647'
  const token =
    'operatorToken must be a text of ASCII characters that is not empty, and has no space around it'
  const hosts = 'allowedHosts must be an array of host names or IP addresses, without port'
  const functions = 'probes must be an object of functions with other names than status'
  it.each([
    [{}, methods],
    [{ ...good, queue: { add: method } }, methods],
    [{ ...good, queue: { add: method, size: 1 } }, methods],
    [{ ...good, network: 'preprod' }, 'network must be mainnet or testnet'],
    [{ ...good, network: undefined }, 'network must be mainnet or testnet'],
    [{ ...good, maxSize: 0 }, integer],
    [{ ...good, maxSize: 1.5 }, integer],
    [{ ...good, maxSize: '1' }, integer],
    [{ ...good, maxSize: Number.POSITIVE_INFINITY }, integer],
    [{ ...good, probes: { queue: 1 } }, functions],
    [{ ...good, probes: { status: method } }, functions],
    [{ ...good, allowedHosts: 'node.example' }, hosts],
    [{ ...good, allowedHosts: [5] }, hosts],
    [{ ...good, allowedHosts: ['node.example:80'] }, hosts],
    [{ ...good, allowedHosts: ['[::1]:80'] }, hosts],
    [{ ...good, waitMs: 0 }, timer],
    [{ ...good, waitMs: 2 ** 31 }, timer],
    [{ ...good, operatorToken: '' }, token],
    [{ ...good, operatorToken: ' a' }, token],
    [{ ...good, operatorToken: 'a\n' }, token],
    [{ ...good, operatorToken: 'geheimnis-ä' }, token],
    [{ ...good, operatorToken: '秘密' }, token],
    [{ ...good, maxsize: 1 }, `there is no option maxsize; its options are ${Object.keys(rules).join(', ')}`],
  ])('refuses %j: %s', (options, message) => {
    expect(() => check(options)).toThrow(new TypeError(`@example/plugin: ${message}`))
  })
})
