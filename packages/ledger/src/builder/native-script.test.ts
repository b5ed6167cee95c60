import * as cml from '@dcspark/cardano-multiplatform-lib-nodejs'
import { BytesSet, fromHex, toHex } from '@ratatosk/cbor'
import { expect, it } from 'vitest'
import { isSatisfiedBy, keysOfNativeScript, nativeScript } from './native-script.js'

const [a, b, c] = ['0a', '0b', '0c'].map((byte) => byte.repeat(28)) as [string, string, string]
const hashes = (...hex: string[]) => new BytesSet(hex.map((each) => fromHex(each)))
const sig = (keyHash: string) => ({ type: 'sig', keyHash })
const twoOfThree = { type: 'atLeast', required: 2, scripts: [sig(a), sig(b), sig(c)] }

/** The same script by another library. */
function byCml(): cml.NativeScript {
  const list = cml.NativeScriptList.new()
  for (const hash of [a, b, c])
    list.add(cml.NativeScript.new_script_pubkey(cml.Ed25519KeyHash.from_hex(hash)))
  return cml.NativeScript.new_script_n_of_k(2n, list)
}

it("reads cardano-cli's JSON and CBOR as the same script, with the hash of CML", () => {
  const expected = byCml().hash().to_hex()
  expect(toHex(nativeScript(JSON.stringify(twoOfThree)).hash)).toBe(expected)
  expect(toHex(nativeScript(` ${byCml().to_cbor_hex().toUpperCase()}\n`).hash)).toBe(expected)
})

it('knows its keys, and which of them satisfy it', () => {
  const { script } = nativeScript(JSON.stringify({ type: 'any', scripts: [twoOfThree, sig(a)] }))
  expect(Array.from(keysOfNativeScript(script), (hash) => toHex(hash))).toEqual([a, b, c])
  expect(isSatisfiedBy(script, hashes(a))).toBe(true)
  expect(isSatisfiedBy(script, hashes(b))).toBe(false)
  expect(isSatisfiedBy(script, hashes(b, c))).toBe(true)
})

it('counts on no time lock', () => {
  const locked = nativeScript(
    '{"type":"any","scripts":[{"type":"after","slot":0},{"type":"before","slot":9}]}',
  )
  expect(locked.script).toEqual({
    kind: 'any',
    scripts: [
      { kind: 'invalid-before', slot: 0n },
      { kind: 'invalid-hereafter', slot: 9n },
    ],
  })
  expect(isSatisfiedBy(locked.script, hashes(a))).toBe(false)
})

it.each([
  ['text', 'sesame', 'neither hex nor JSON'],
  ['an unknown type', '{"type":"sigs"}', '"type" is one of'],
  ['no object', '[]', '"type" is one of'],
  ['a short hash', '{"type":"sig","keyHash":"ab"}', '56 hex digits'],
  ['no list', '{"type":"all"}', 'needs a list'],
  ['a fraction', '{"type":"atLeast","required":1.5,"scripts":[]}', 'a whole number'],
  ['other CBOR', '8200', 'cannot be read'],
])('refuses %s', (_, text, reason) => {
  expect(() => nativeScript(text)).toThrow(
    expect.objectContaining({
      code: 'WALLET_INVALID_SCRIPT',
      message: expect.stringContaining(reason),
    }),
  )
})
