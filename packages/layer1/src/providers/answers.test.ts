import * as cml from '@dcspark/cardano-multiplatform-lib-nodejs'
import { CborWriter, concatBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { blake2b256, decodeTransaction, type OutputReference, scriptHash } from '@ratatosk/ledger'
import { toOutput } from '@ratatosk/ledger/builder'
import { describe, expect, it, test } from 'vitest'
import { parseJson } from '../http/json.js'
import { keys } from '../test/devnet-harness.js'
import { addressBytes, cleanReason, nativeScriptBytes, scriptOf, spendingPartsOf } from './provider.js'

describe('answers of providers', () => {
  it('keeps integers beyond double precision, and strings shaped like them', () => {
    const text =
      '{"a":9007199254740993,"b":"x\\"1234567890123456789",' +
      '"c":-12345678901234567890,"d":1.2345678901234567,"e":12}'
    expect(parseJson(text)).toEqual({
      a: '9007199254740993',
      b: 'x"1234567890123456789',
      c: '-12345678901234567890',
      d: 1.2345678901234567,
      e: 12,
    })
    expect(() => parseJson('{"a":')).toThrow(SyntaxError)
  })

  it('reads Byron and bech32 addresses', () => {
    const byron = 'Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi'
    expect(toHex(addressBytes(byron))).toBe(toHex(cml.ByronAddress.from_base58(byron).to_cbor_bytes()))
    expect(addressBytes(keys.addressText)).toEqual(keys.address.bytes)
    expect(() => addressBytes('0OIl')).toThrow()
    expect(() => addressBytes('1'.repeat(5000))).toThrow()
  })

  const bytes = fromHex('450101002499')
  it.each([
    ['unchanged', bytes],
    ['wrapped in a byte string', new CborWriter().bytes(bytes).toBytes()],
    ['without its byte string', bytes.subarray(1)],
  ])('accepts a Plutus script %s', (_, form) => {
    const hash = toHex(scriptHash('PlutusV3', bytes))
    expect(scriptOf('PlutusV3', form, hash)).toEqual({ language: 'PlutusV3', bytes })
  })

  it('refuses a script of another hash', () => {
    expect(() => scriptOf('PlutusV3', bytes, '00'.repeat(28))).toThrow('another hash')
    expect(() => scriptOf('PlutusV2', bytes, toHex(scriptHash('PlutusV3', bytes)))).toThrow('another hash')
  })

  it('writes native scripts as CML does', () => {
    const keyHash = toHex(keys.payment.hash)
    const json = {
      type: 'atLeast',
      required: 1,
      scripts: [
        {
          type: 'all',
          scripts: [
            { type: 'sig', keyHash },
            { type: 'after', slot: 5 },
          ],
        },
        { type: 'any', scripts: [{ type: 'before', slot: 70_000 }] },
      ],
    }
    const sig = cml.NativeScript.new_script_pubkey(cml.Ed25519KeyHash.from_hex(keyHash))
    const list = (...scripts: cml.NativeScript[]) => {
      const all = cml.NativeScriptList.new()
      for (const script of scripts) all.add(script)
      return all
    }
    const expected = cml.NativeScript.new_script_n_of_k(
      1n,
      list(
        cml.NativeScript.new_script_all(list(sig, cml.NativeScript.new_script_invalid_before(5n))),
        cml.NativeScript.new_script_any(list(cml.NativeScript.new_script_invalid_hereafter(70_000n))),
      ),
    )
    expect(toHex(nativeScriptBytes(json))).toBe(expected.to_cbor_hex())
    for (const wrong of [null, { type: 'none' }, { type: 'all' }, { type: 'sig', keyHash: 5 }]) {
      expect(() => nativeScriptBytes(wrong)).toThrow()
    }
  })

  it('writes native scripts of any depth', () => {
    const depth = 30_000
    const inner = '{"type":"after","slot":18446744073709551615}'
    const text = `${'{"type":"all","scripts":['.repeat(depth)}${inner}${']}'.repeat(depth)}`
    const bytes = nativeScriptBytes(parseJson(text))
    expect(toHex(bytes)).toBe(`${'820181'.repeat(depth)}82041bffffffffffffffff`)
  })

  it('writes outputs that CML reads', () => {
    const output = toOutput({
      address: keys.address.bytes,
      value: {
        lovelace: 5_000_000n,
        assets: new Map([
          [
            'ab'.repeat(28),
            new Map([
              ['abcd', 3n],
              ['cd', 2n],
              ['', 1n],
            ]),
          ],
        ]),
      },
      datum: { kind: 'inline', data: fromHex('d87980') },
      referenceScript: { language: 'PlutusV3', bytes },
    })
    const other = cml.TransactionOutput.from_cbor_bytes(output.bytes)
    expect(toHex(other.to_canonical_cbor_bytes())).toBe(toHex(output.bytes))
    expect(other.amount().coin()).toBe(5_000_000n)
    expect(other.datum()?.as_datum()?.to_cbor_hex()).toBe('d87980')
    expect(other.script_ref()?.hash().to_hex()).toBe(toHex(scriptHash('PlutusV3', bytes)))
    expect(other.address().to_bech32()).toBe(keys.addressText)
  })

  it('removes URLs and secrets from reasons and limits their length', () => {
    const words = 'see "https://user:pw@node.example/api?key=1" or ws://10.0.0.1:1337: bad secret42'
    expect(cleanReason(words, ['secret42', ''])).toBe('see "…" or … bad …')
    expect(cleanReason('x'.repeat(10_000))).toHaveLength(2000)
  })
})

const references = [3, 1, 2].map(
  (byte): OutputReference => ({ transactionId: new Uint8Array(32).fill(byte), index: byte }),
)

const listOf = (all: readonly OutputReference[], tagged: boolean): Uint8Array => {
  const writer = tagged ? new CborWriter().tag(258).array(all.length) : new CborWriter().array(all.length)
  for (const { transactionId, index } of all) writer.array(2).bytes(transactionId).uint(index)
  return writer.toBytes()
}

const units = new CborWriter().array(2).uint(1).uint(2).toBytes()

/** A transaction with these data as redeemers of its inputs. */
function withRedeemers(data: readonly Uint8Array[], isMap: boolean): Uint8Array {
  const redeemers = isMap ? new CborWriter().map(data.length) : new CborWriter().array(data.length)
  for (const [place, each] of data.entries())
    if (isMap) redeemers.array(2).uint(0).uint(place).array(2).raw(each).raw(units)
    else redeemers.array(4).uint(0).uint(place).raw(each).raw(units)
  const body = new CborWriter().map(4)
  body
    .uint(0)
    .raw(listOf(references.slice(0, 2), isMap))
    .uint(1)
    .array(0)
    .uint(2)
    .uint(0)
  body.uint(18).raw(listOf(references.slice(2), isMap))
  const witnesses = new CborWriter().map(1).uint(5).raw(redeemers.toBytes())
  return concatBytes(Uint8Array.of(0x84), body.toBytes(), witnesses.toBytes(), Uint8Array.of(0xf5, 0xf6))
}

const nested = (levels: number): Uint8Array =>
  concatBytes(new Uint8Array(levels).fill(0x81), Uint8Array.of(0x80))

test.each([false, true])('are those of the whole transaction, redeemers in a map: %s', (isMap) => {
  const data = [nested(3), new CborWriter().uint(7).toBytes()]
  const cbor = withRedeemers(data, isMap)
  const { id, body } = decodeTransaction(cbor)
  expect(spendingPartsOf(cbor)).toEqual({
    id,
    inputs: body.inputs,
    referenceInputs: body.referenceInputs,
    redeemers: new Map(data.entries()),
  })
})

test('are read whatever is in a redeemer', () => {
  const deep = nested(15_000)
  const cbor = withRedeemers([deep], true)
  const { redeemers, inputs } = spendingPartsOf(cbor)
  expect(redeemers.get(0)).toEqual(deep)
  expect(inputs).toEqual(references.slice(0, 2))
})

test('are in no other bytes', () => {
  const cbor = withRedeemers([nested(1)], false)
  for (const bytes of [new Uint8Array(), blake2b256(cbor), cbor.subarray(0, 50)])
    expect(() => spendingPartsOf(bytes)).toThrow(expect.toSatisfy(isDecodeError))
})
