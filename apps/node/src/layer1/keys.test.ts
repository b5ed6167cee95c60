import { toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { keysFromSeedPhrase, nativeScript, type WalletKeys } from '@ratatosk/ledger/builder'
import { expect, test } from 'vitest'
import { networkOf } from '../network/network.js'
import { readSettings } from '../settings/read.js'
import { readKeys } from './keys.js'

const { mnemonic } = testWallets
/** BIP-39's phrase of 32 zero bytes. */
const otherPhrase = `${'abandon '.repeat(23)}art`
const walletOf = (phrase: string, account = 0) => keysFromSeedPhrase(phrase, { networkId: 0, account })
const [administrator, operator, other] = [walletOf(mnemonic), walletOf(mnemonic, 1), walletOf(otherPhrase)]
const hashOf = ({ payment }: WalletKeys) => toHex(payment.hash)

const script = JSON.stringify({
  type: 'atLeast',
  required: 2,
  scripts: [administrator, operator, other].map((keys) => ({ type: 'sig', keyHash: hashOf(keys) })),
})

function administratorOf(environment: Record<string, string>) {
  const settings = readSettings(environment)
  const { credential, signing } = readKeys(settings, networkOf(settings.NETWORK)).administrator!
  if (signing === undefined) throw new Error('the administrator is renounced')
  return {
    credential: `${credential.kind} ${toHex(credential.hash)}`,
    absent: 'absent' in signing ? signing.absent : undefined,
    wallet: 'wallet' in signing ? signing.wallet.addressText : undefined,
    signers: 'keys' in signing ? signing.keys.map(({ hash }) => toHex(hash)) : [],
  }
}

test.each<[string, Record<string, string>, WalletKeys | undefined]>([
  ['nothing, on a devnet', {}, administrator],
  ['a phrase', { ADMIN_SEED_PHRASE: mnemonic }, administrator],
  [
    'a phrase and its hash',
    { ADMIN_SEED_PHRASE: mnemonic, ADMIN_KEY_HASH: hashOf(administrator) },
    administrator,
  ],
  ['a hash', { ADMIN_KEY_HASH: hashOf(administrator).toUpperCase() }, undefined],
  ["the hash of the operator's key", { ADMIN_KEY_HASH: hashOf(operator) }, operator],
])('an administrator by %s', (_, environment, signer) => {
  const key = administratorOf(environment)
  expect(key.credential).toBe(`key ${hashOf(signer ?? administrator)}`)
  expect(key.wallet).toBe(signer?.addressText)
  expect(key.signers).toEqual(signer ? [hashOf(signer)] : [])
  if (!signer) expect(key.absent).toMatch(/knows only the hash of the key.*ADMIN_SEED_PHRASE_FILE/)
})

test.each<[string, Record<string, string>, readonly WalletKeys[]]>([
  ['its phrases', { ADMIN_SEED_PHRASE: `${mnemonic}, ${otherPhrase}` }, [administrator, other, operator]],
  ["a phrase and the operator's key", { ADMIN_SEED_PHRASE: otherPhrase }, [other, operator]],
  ['too few phrases', {}, []],
])('a script of two of three with %s', (_, environment, signers) => {
  const { hash } = nativeScript(script)
  const held = administratorOf({ ADMIN_SCRIPT: script, ...environment })
  expect(held.credential).toBe(`script ${toHex(hash)}`)
  expect(held.signers).toEqual(signers.map(hashOf))
  expect(held.wallet).toBe(signers[0]?.addressText)
  if (signers.length === 0) {
    expect(held.absent).toContain(`not at hand: ${hashOf(administrator)}, ${hashOf(other)}`)
    expect(held.absent).not.toContain(hashOf(operator))
  }
})

test('a script by its CBOR or its hash is the same deployment', () => {
  const { bytes, hash } = nativeScript(script)
  const byCbor = administratorOf({ ADMIN_SCRIPT: toHex(bytes), ADMIN_SEED_PHRASE: mnemonic })
  expect(byCbor).toEqual(administratorOf({ ADMIN_SCRIPT: script, ADMIN_SEED_PHRASE: mnemonic }))
  expect(byCbor.signers).toHaveLength(2)
  const byHash = administratorOf({ ADMIN_SCRIPT: toHex(hash), ADMIN_SEED_PHRASE: mnemonic })
  expect(byHash.credential).toBe(byCbor.credential)
  expect(byHash.absent).toMatch(/knows only the hash of the script/)
})

test('a renounced administrator is the zero hash, and nothing signs for it', () => {
  const settings = readSettings({ ADMIN_RENOUNCED: 'true' })
  expect(readKeys(settings, networkOf(settings.NETWORK)).administrator).toEqual({
    credential: { kind: 'key', hash: new Uint8Array(28) },
    signing: undefined,
  })
})

test.each<[Record<string, string>, RegExp]>([
  [
    { ADMIN_SEED_PHRASE: mnemonic, ADMIN_KEY_HASH: 'ab'.repeat(28) },
    /ADMIN_KEY_HASH is (ab){28} but the key of ADMIN_SEED_PHRASE has the hash/,
  ],
  [{ ADMIN_SEED_PHRASE: `${mnemonic},${otherPhrase}` }, /several phrases: this needs ADMIN_SCRIPT/],
  [{ ADMIN_SCRIPT: '{"type":"sig"}' }, /ADMIN_SCRIPT: .*"keyHash" is 56 hex digits/],
])('refuses %o', (environment, message) => {
  const settings = readSettings(environment)
  expect(() => readKeys(settings, networkOf(settings.NETWORK))).toThrow(message)
})

test.each<[string, Record<string, string>, WalletKeys | undefined]>([
  ['a watcher on a devnet', { NODE_ROLE: 'watcher' }, walletOf(mnemonic, 4)],
  ['a watcher', { NODE_ROLE: 'watcher', WATCHER_SEED_PHRASE: otherPhrase }, other],
  ['an archivist', { NODE_ROLE: 'archivist' }, undefined],
  [
    'an archivist with a phrase',
    { NODE_ROLE: 'archivist', WATCHER_SEED_PHRASE: otherPhrase },
    walletOf(otherPhrase),
  ],
  ['a node with a phrase', { WATCHER_SEED_PHRASE: otherPhrase }, other],
  ['a node without', {}, undefined],
])('the wallet for fraud proofs of %s', (_, environment, wallet) => {
  const url = 'http://127.0.0.1:9'
  const follows = { ARCHIVIST_PEERS: url, LAYER1_PROVIDER: 'blockfrost', BLOCKFROST_URL: url }
  const settings = readSettings({ ...(environment.NODE_ROLE && follows), ...environment })
  expect(readKeys(settings, networkOf(settings.NETWORK)).watcher?.addressText).toBe(wallet?.addressText)
})

test('a watcher does not pay from the wallet of the operator', () => {
  const phrases = { OPERATOR_SEED_PHRASE: otherPhrase, WATCHER_SEED_PHRASE: otherPhrase }
  const settings = readSettings(phrases)
  expect(() => readKeys(settings, networkOf(settings.NETWORK))).toThrow(/needs a wallet of its own/)
})
