import { expect, test } from 'vitest'
import { edits, nearMisses } from './near-misses.js'
import { readSettings } from './read.js'
import { problemsOf } from './test/problems-of.js'

test.each([
  ['OPERATOR_TOKNE', 'OPERATOR_TOKEN'],
  ['NETWROK', 'NETWORK'],
  ['DATABSE_URL', 'DATABASE_URL'],
  ['PROT', 'PORT'],
  ['OPERATOR_TOKEN_FIL', 'OPERATOR_TOKEN_FILE'],
])('refuses %s, which is not a setting, and names %s', (variable, setting) => {
  const message = `${variable} is not a setting. Did you mean ${setting}? If not, set UNKNOWN_SETTINGS=warn.`
  expect(problemsOf({ [variable]: 'x' })).toEqual([message])
  const warnings: string[] = []
  readSettings({ [variable]: 'x', UNKNOWN_SETTINGS: 'warn' }, (warning) => warnings.push(warning))
  expect(warnings).toEqual([message])
})

test('takes variables of other programs for no setting', () => {
  const others = {
    HOME: '/',
    PATH: '',
    PWD: '',
    TERM: '',
    USER: '',
    HOSTNAME: '',
    NODE_ENV: '',
    NO_COLOR: '',
    CI: '',
  }
  expect(nearMisses({ ...others, PORT: '1', FAUCET_TOKEN_FILE: '/x' })).toEqual([])
})

test.each([
  ['', '', 0],
  ['ab', 'ba', 1],
  ['abc', 'ab', 1],
  ['abcd', 'bacx', 2],
])('%s and %s are %i edits apart', (from, to, distance) => {
  expect(edits(from, to)).toBe(distance)
})
