import * as cml from '@dcspark/cardano-multiplatform-lib-nodejs'
import * as csl from '@emurgo/cardano-serialization-lib-nodejs'
import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { bech32 } from 'bech32'
import { describe, expect, it } from 'vitest'
import { splitUnit } from '../transaction/output.js'
import {
  bootstrapAttributesSize,
  bootstrapRoot,
  crc32,
  decodeAddress,
  decodeBech32Address,
  encodeBech32Address,
  keyAddress,
  scriptAddress,
} from './address.js'
import type { ByronAddress } from './types.js'

// The test vectors of CIP-19: every kind of address of one key, one script, one stake key and one pointer.
const paymentKey = {
  kind: 'key' as const,
  hash: fromHex('9493315cd92eb5d8c4304e67b7e16ae36d61d34502694657811a2c8e'),
}
const stakeKey = {
  kind: 'key' as const,
  hash: fromHex('337b62cfff6403a06a3acbc34f8c46003c69fe79a3628cefa9c47251'),
}
const script = {
  kind: 'script' as const,
  hash: fromHex('c37b1b5dc0669f1d3c61a6fddb2e8fde96be87b881c60bce8e8d542f'),
}
const pointer = { slot: 2498243, transactionIndex: 27, certificateIndex: 3 }

const vectors = [
  [
    'addr1qx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgse35a3x',
    1,
    { kind: 'base', payment: paymentKey, stake: stakeKey },
  ],
  [
    'addr1z8phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gten0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgs9yc0hh',
    1,
    { kind: 'base', payment: script, stake: stakeKey },
  ],
  [
    'addr1yx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerkr0vd4msrxnuwnccdxlhdjar77j6lg0wypcc9uar5d2shs2z78ve',
    1,
    { kind: 'base', payment: paymentKey, stake: script },
  ],
  [
    'addr1x8phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gt7r0vd4msrxnuwnccdxlhdjar77j6lg0wypcc9uar5d2shskhj42g',
    1,
    { kind: 'base', payment: script, stake: script },
  ],
  [
    'addr1gx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer5pnz75xxcrzqf96k',
    1,
    { kind: 'pointer', payment: paymentKey, pointer },
  ],
  [
    'addr128phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtupnz75xxcrtw79hu',
    1,
    { kind: 'pointer', payment: script, pointer },
  ],
  [
    'addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8',
    1,
    { kind: 'enterprise', payment: paymentKey },
  ],
  ['addr1w8phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtcyjy7wx', 1, { kind: 'enterprise', payment: script }],
  ['stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw', 1, { kind: 'reward', stake: stakeKey }],
  ['stake178phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtcccycj5', 1, { kind: 'reward', stake: script }],
  [
    'addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz',
    0,
    { kind: 'enterprise', payment: paymentKey },
  ],
  [
    'stake_test1uqehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gssrtvn',
    0,
    { kind: 'reward', stake: stakeKey },
  ],
] as const

const encode = (prefix: string, bytes: Uint8Array): string =>
  bech32.encode(prefix, bech32.toWords(bytes), Number.MAX_SAFE_INTEGER)
const enterprise = Uint8Array.of(0x60, ...paymentKey.hash)
const failure = (code: string): unknown => expect.objectContaining({ name: 'AddressError', code })

describe('keyAddress and scriptAddress', () => {
  it.each(vectors)('build %s of CIP-19', (text, networkId, parts) => {
    if (parts.kind !== 'base' && parts.kind !== 'enterprise') return
    const build = parts.payment.kind === 'key' ? keyAddress : scriptAddress
    const address = build(parts.payment.hash, networkId, 'stake' in parts ? parts.stake : undefined)
    expect(address).toEqual(decodeBech32Address(text))
    expect(encodeBech32Address(address)).toBe(text)
  })

  it('refuse hashes that do not have 28 bytes', () => {
    expect(() => keyAddress(new Uint8Array(27), 0)).toThrow(RangeError)
    expect(() => scriptAddress(script.hash, 1, { kind: 'key', hash: new Uint8Array(32) })).toThrow(RangeError)
  })
})

describe('splitUnit', () => {
  it('splits a unit into policy and name', () => {
    expect(splitUnit(`${'ab'.repeat(28)}c0de`)).toEqual({ policy: 'ab'.repeat(28), name: 'c0de' })
    expect(splitUnit('ab'.repeat(28))).toEqual({ policy: 'ab'.repeat(28), name: '' })
  })
})

describe('decodeAddress', () => {
  it.each(vectors)('decodes %s of CIP-19', (text, networkId, parts) => {
    const address = decodeBech32Address(text)
    expect(address).toEqual({ bytes: expect.any(Uint8Array), networkId, ...parts })
    expect(decodeBech32Address(text.toUpperCase())).toEqual(address)
    if (address.kind !== 'byron') expect(encodeBech32Address(address)).toBe(text)
  })

  it.each([
    ['no bytes', '', 'ADDRESS_WRONG_LENGTH'],
    ['a base address with a byte missing', `00${'11'.repeat(55)}`, 'ADDRESS_WRONG_LENGTH'],
    ['a base address with an extra byte', `00${'11'.repeat(57)}`, 'ADDRESS_WRONG_LENGTH'],
    ['an enterprise address with a byte missing', `60${'11'.repeat(27)}`, 'ADDRESS_WRONG_LENGTH'],
    ['an enterprise address with an extra byte', `60${'11'.repeat(29)}`, 'ADDRESS_WRONG_LENGTH'],
    ['a reward address with a byte missing', `e0${'11'.repeat(27)}`, 'ADDRESS_WRONG_LENGTH'],
    ['a pointer address without a pointer', `40${'11'.repeat(28)}`, 'ADDRESS_WRONG_LENGTH'],
    ['a truncated pointer', `40${'11'.repeat(28)}0102`, 'ADDRESS_WRONG_LENGTH'],
    ['bytes after a pointer', `40${'11'.repeat(28)}01020304`, 'ADDRESS_WRONG_LENGTH'],
    ['a slot over 32 bits', `40${'11'.repeat(28)}90808080000101`, 'ADDRESS_MALFORMED'],
    ['an index over 16 bits', `40${'11'.repeat(28)}0184808001`, 'ADDRESS_MALFORMED'],
    ['an index in four bytes', `40${'11'.repeat(28)}018080800101`, 'ADDRESS_MALFORMED'],
    ['a Byron address that is not CBOR', `80${'11'.repeat(28)}`, 'ADDRESS_UNKNOWN_TYPE'],
    ['address type 9', `90${'11'.repeat(28)}`, 'ADDRESS_UNKNOWN_TYPE'],
    ['address type 13', `d0${'11'.repeat(28)}`, 'ADDRESS_UNKNOWN_TYPE'],
    ['network 2', `62${'11'.repeat(28)}`, 'ADDRESS_WRONG_NETWORK'],
    ['network 15', `ef${'11'.repeat(28)}`, 'ADDRESS_WRONG_NETWORK'],
  ])('refuses %s', (_, hex, code) => {
    expect(() => decodeAddress(fromHex(hex))).toThrow(failure(code))
  })

  it('accepts the largest pointer', () => {
    const bytes = fromHex(`41${'11'.repeat(28)}8fffffff7f83ff7f83ff7f`)
    expect(decodeAddress(bytes)).toMatchObject({
      pointer: { slot: 2 ** 32 - 1, transactionIndex: 65535, certificateIndex: 65535 },
    })
  })
})

describe('decodeBech32Address', () => {
  it.each([
    ['an empty string', '', 'ADDRESS_NOT_BECH32'],
    ['a text without a separator', 'addrqqqqqqqqqqqq', 'ADDRESS_NOT_BECH32'],
    [
      'a character outside the alphabet',
      'addr_test1vb2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz',
      'ADDRESS_NOT_BECH32',
    ],
    [
      'a wrong checksum',
      'addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsq',
      'ADDRESS_NOT_BECH32',
    ],
    ['mixed case', 'addr_test1Vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz', 'ADDRESS_NOT_BECH32'],
    ['white space', ' addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz', 'ADDRESS_NOT_BECH32'],
    [
      'a Byron address in base58',
      'Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi',
      'ADDRESS_NOT_BECH32',
    ],
    [
      'non-zero padding',
      bech32.encode('addr_test', [...bech32.toWords(enterprise).slice(0, -1), 31]),
      'ADDRESS_NOT_BECH32',
    ],
    ['the prefix of a pool', encode('pool', enterprise), 'ADDRESS_WRONG_PREFIX'],
    [
      'a prefix that only starts like one of an address',
      encode('addr_testnet', enterprise),
      'ADDRESS_WRONG_PREFIX',
    ],
    ['a payment address with a stake prefix', encode('stake_test', enterprise), 'ADDRESS_WRONG_PREFIX'],
    [
      'a reward address with a payment prefix',
      encode('addr_test', Uint8Array.of(0xe0, ...stakeKey.hash)),
      'ADDRESS_WRONG_PREFIX',
    ],
    ['the prefix of the other network', encode('addr', enterprise), 'ADDRESS_WRONG_NETWORK'],
    ['a wrong length', encode('addr_test', enterprise.subarray(0, 28)), 'ADDRESS_WRONG_LENGTH'],
    ['no bytes', encode('addr_test', new Uint8Array()), 'ADDRESS_WRONG_LENGTH'],
    ['an unknown type', encode('addr_test', Uint8Array.of(0xa0, ...paymentKey.hash)), 'ADDRESS_UNKNOWN_TYPE'],
  ])('refuses %s', (_, text, code) => {
    expect(() => decodeBech32Address(text)).toThrow(failure(code))
  })
})

describe('a Byron address', () => {
  // A mainnet address without attributes and a testnet address with a network magic.
  const mainnet = 'Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi'
  const testnet =
    '37btjrVyb4KDXBNC4haBVPCrro8AQPHwvCMp3RFhhSVWwfFmZ6wwzSK6JK1h' +
    'Y6wHNmtrpTf1kdbva8TCneM2YsiXT7mrzT21EacHnPpz5YyUdj64na'

  const bytesOf = (base58: string): Uint8Array => cml.ByronAddress.from_base58(base58).to_cbor_bytes()
  const decode = (bytes: Uint8Array): ByronAddress => {
    const address = decodeAddress(bytes)
    if (address.kind !== 'byron') throw new Error('not Byron')
    return address
  }
  const wrap = (payload: Uint8Array, checksum = crc32(payload)): Uint8Array =>
    new CborWriter().array(2).tag(24).bytes(payload).uint(checksum).toBytes()
  const withAttributes = (attributes: Uint8Array, type = 0): Uint8Array =>
    wrap(new CborWriter().array(3).bytes(new Uint8Array(28)).raw(attributes).uint(type).toBytes())

  it('is decoded to root, attributes and network', () => {
    const address = decode(bytesOf(mainnet))
    expect(address).toMatchObject({ networkId: 1, spending: 'key', attributes: fromHex('a0') })
    expect(address).not.toHaveProperty('networkMagic')
    expect(toHex(address.root)).toBe(cml.ByronAddress.from_base58(mainnet).content().address_id().to_hex())
    expect(decode(bytesOf(testnet))).toMatchObject({ networkId: 0, networkMagic: 1097911063 })
    expect(bootstrapAttributesSize(address)).toBe(0)
  })

  it('counts the bytes of the derivation path and of unknown attributes', () => {
    const attributes = new CborWriter().map(3)
    attributes.uint(1).bytes(new CborWriter().bytes(new Uint8Array(28)).toBytes())
    attributes.uint(2).bytes(fromHex('01')).uint(9).bytes(new Uint8Array(7))
    expect(bootstrapAttributesSize(decode(withAttributes(attributes.toBytes())))).toBe(35)
  })

  it('has the root that its bootstrap witness proves', () => {
    const key = csl.Bip32PrivateKey.from_bip39_entropy(new Uint8Array(32).fill(9), new Uint8Array())
    const address = csl.ByronAddress.icarus_from_key(key.to_public(), 1)
    const id = csl.TransactionHash.from_bytes(new Uint8Array(32).fill(1))
    const witness = csl.make_icarus_bootstrap_witness(id, address, key)
    const root = bootstrapRoot({
      publicKey: witness.vkey().public_key().as_bytes(),
      chainCode: witness.chain_code(),
      attributes: witness.attributes(),
    })
    expect(toHex(root)).toBe(toHex(decode(address.to_bytes()).root))
  })

  it.each([
    ['a wrong checksum', wrap(fromHex('83581c'), 0)],
    [
      'a checksum over 32 bits',
      new CborWriter()
        .array(2)
        .tag(24)
        .bytes(fromHex('00'))
        .uint(2n ** 32n)
        .toBytes(),
    ],
    [
      'another tag',
      new CborWriter()
        .array(2)
        .tag(25)
        .bytes(fromHex('00'))
        .uint(crc32(fromHex('00')))
        .toBytes(),
    ],
    ['trailing bytes', Uint8Array.of(...bytesOf(mainnet), 0)],
    ['an unknown type', withAttributes(fromHex('a0'), 1)],
    ['attributes of indefinite length', withAttributes(fromHex('bfff'))],
    ['attributes out of order', withAttributes(fromHex('a2024101014140'))],
    ['an attribute twice', withAttributes(fromHex('a2094101094101'))],
    ['a network magic that is not in its shortest form', withAttributes(fromHex('a102421801'))],
    ['a network magic that is not a number', withAttributes(fromHex('a1024140'))],
    ['a derivation path that is not a byte string', withAttributes(fromHex('a1014101'))],
    ['a root of another size', wrap(fromHex('8341aaa000'))],
    ['a payload of two items', wrap(new CborWriter().array(2).bytes(new Uint8Array(28)).map(0).toBytes())],
  ])('is refused: %s', (_, bytes) => {
    expect(() => decodeAddress(bytes)).toThrow(failure('ADDRESS_MALFORMED'))
  })

  it('ends with the standard CRC-32', () => {
    expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926)
  })
})
