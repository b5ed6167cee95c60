import * as cml from '@dcspark/cardano-multiplatform-lib-nodejs'
import { fromHex, toHex } from '@ratatosk/cbor'
import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { decodeTransaction, validateSignatures, verifySignature } from '../index.js'
import { encodeBody, encodeTransaction, encodeWitnesses } from './encode.js'
import { keysFromSeedPhrase, keysFromSigningKey, signed, signingKey, unsigned } from './keys.js'
import { testWallets } from './test/fixtures.js'

const H = 0x8000_0000

/** The same path by another library. */
function byCml(phrase: string, account: number, index: number, networkId: number) {
  const root = cml.Bip32PrivateKey.from_bip39_entropy(mnemonicToEntropy(phrase, wordlist), new Uint8Array())
  const accountKey = root
    .derive(1852 + H)
    .derive(1815 + H)
    .derive(account + H)
  const payment = accountKey.derive(0).derive(index).to_raw_key()
  const stake = accountKey.derive(2).derive(0).to_raw_key()
  const credential = (key: cml.PrivateKey) => cml.Credential.new_pub_key(key.to_public().hash())
  const address = cml.BaseAddress.new(networkId, credential(payment), credential(stake)).to_address()
  return { payment, address: address.to_bech32() }
}

describe('seed phrases', () => {
  it.each(testWallets.wallets)('gives account $account of the devnet its address and key', (wallet) => {
    const keys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: wallet.account })
    expect(keys.addressText).toBe(wallet.address)
    expect(toHex(signingKey(wallet.signingKey).publicKey)).toBe(toHex(keys.payment.publicKey))
  })

  it('derives and signs as CML does, for any phrase and path', () => {
    fc.assert(
      fc.property(
        fc
          .constantFrom(16, 20, 24, 28, 32)
          .chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
        fc.nat(H - 1),
        fc.nat(H - 1),
        fc.constantFrom(0 as const, 1 as const),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (entropy, account, addressIndex, networkId, message) => {
          const phrase = entropyToMnemonic(entropy, wordlist)
          const keys = keysFromSeedPhrase(phrase, { networkId, account, addressIndex })
          const other = byCml(phrase, account, addressIndex, networkId)
          expect(keys.addressText).toBe(other.address)
          const signature = keys.payment.sign(message)
          expect(toHex(signature)).toBe(toHex(other.payment.sign(message).to_raw_bytes()))
          expect(verifySignature(signature, message, keys.payment.publicKey)).toBe(true)
        },
      ),
      { numRuns: 20 },
    )
  })

  it('leaves the stake part out on request', () => {
    const { address } = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 1, stake: false })
    expect(address.kind).toBe('enterprise')
    expect(address.networkId).toBe(1)
  })

  it.each([
    ['a wrong checksum', 'test '.repeat(24)],
    ['too few words', 'test test test'],
    ['a foreign word', testWallets.mnemonic.replace('sauce', 'yggdrasil')],
    ['nothing', ''],
  ])('refuses %s without quoting it', (_, phrase) => {
    const attempt = () => keysFromSeedPhrase(phrase, { networkId: 0 })
    expect(attempt).toThrow(expect.objectContaining({ name: 'WalletError', code: 'WALLET_INVALID_KEY' }))
    expect(attempt).not.toThrow(/test|yggdrasil/)
  })

  it('refuses an invalid account', () => {
    expect(() => keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: -1 })).toThrow(/account/)
  })
})

describe('signing keys', () => {
  const seed = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'
  const publicKey = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'

  it.each([
    ['hex', seed],
    ['a key file', `5820${seed}`],
    ['bech32', cml.PrivateKey.from_normal_bytes(Buffer.from(seed, 'hex')).to_bech32()],
  ])('reads %s', (_, text) => {
    expect(toHex(signingKey(text).publicKey)).toBe(publicKey)
  })

  it('signs by RFC 8032, section 7.1, test 1', () => {
    expect(toHex(signingKey(seed).sign(new Uint8Array()))).toBe(
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155' +
        '5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    )
  })

  it('reads extended keys: hex, key files with chain code and public key, bech32', () => {
    const bech = testWallets.wallets[0]!.signingKey
    const raw = toHex(cml.PrivateKey.from_bech32(bech).to_raw_bytes())
    const { payment } = keysFromSigningKey(bech, { networkId: 0 })
    for (const text of [raw, `5840${raw}`, `5880${raw}${'00'.repeat(64)}`]) {
      expect(toHex(signingKey(text).publicKey)).toBe(toHex(payment.publicKey))
    }
  })

  it.each([
    ['damaged bech32', testWallets.wallets[0]!.signingKey.replace(/.$/, 'x')],
    ['hex of another length', 'abcd'],
    ['a scalar that is not clamped', 'ff'.repeat(64)],
    ['an address', testWallets.wallets[0]!.address],
  ])('refuses %s without quoting it', (_, text) => {
    expect(() => signingKey(text)).toThrow(expect.objectContaining({ code: 'WALLET_INVALID_KEY' }))
    expect(() => signingKey(text)).not.toThrow(new RegExp(text.slice(0, 12)))
  })
})

const keyOf = (byte: string) => keysFromSigningKey(byte.repeat(32), { networkId: 0 }).payment
const body = encodeBody({
  inputs: [{ transactionId: new Uint8Array(32), index: 0 }],
  outputs: [],
  fee: 1n,
  collateral: [],
  requiredSigners: [],
  referenceInputs: [],
})
const redeemers = [{ tag: 0, index: 0, data: fromHex('d87980'), memory: 1n, steps: 2n }] as const

test('signatures are taken out and put in, and nothing else changes', () => {
  const plain = encodeTransaction(
    body,
    encodeWitnesses({ keyWitnesses: [], scripts: [], datums: [], redeemers }),
  )
  const keys = [keyOf('01'), keyOf('02')]
  const once = decodeTransaction(signed(decodeTransaction(plain), keys))
  expect(once.witnesses.keyWitnesses.map(({ publicKey }) => publicKey)).toEqual(
    keys.map(({ publicKey }) => publicKey),
  )
  expect(validateSignatures(once)).toEqual([])
  expect(once.id).toEqual(decodeTransaction(plain).id)
  expect(once.witnesses.redeemers).toHaveLength(1)
  expect(unsigned(once)).toEqual(plain)
  expect(unsigned(decodeTransaction(plain))).toEqual(plain)
  expect(decodeTransaction(signed(once, [keyOf('03')])).witnesses.keyWitnesses).toHaveLength(1)
})

test('a witness set of indefinite length, and one that has nothing, are read too', () => {
  for (const witnesses of ['a0', 'bfff', 'bf0581840000d87980820102ff']) {
    const transaction = decodeTransaction(encodeTransaction(body, fromHex(witnesses)))
    const again = decodeTransaction(signed(transaction, [keyOf('01')]))
    expect(again.witnesses.keyWitnesses).toHaveLength(1)
    expect(again.witnesses.redeemers).toHaveLength(transaction.witnesses.redeemers.length)
  }
})
