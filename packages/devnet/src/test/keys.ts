import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { blake2b224, CborWriter, decodeAddress, encodeBech32Address, toHex } from '@ratatosk/ledger'
import type { Genesis } from '../genesis/genesis.js'

/** A key of the tests, made from one byte. */
export interface TestKey {
  readonly publicKey: Uint8Array
  readonly hash: Uint8Array
  /** Enterprise, of a test network. */
  readonly addressBytes: Uint8Array
  readonly address: string
  sign(message: Uint8Array): Uint8Array
}

export function testKey(seed: number): TestKey {
  const pkcs8 = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.alloc(32, seed),
  ])
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const publicKey = Uint8Array.from(spki.subarray(-32))
  const hash = blake2b224(publicKey)
  const addressBytes = Uint8Array.from([0x60, ...hash])
  const address = decodeAddress(addressBytes)
  if (address.kind === 'byron') throw new TypeError('an enterprise address has become one of Byron')
  return {
    publicKey,
    hash,
    addressBytes,
    address: encodeBech32Address(address),
    sign: (message) => Uint8Array.from(sign(null, message, key)),
  }
}

/** A genesis that pays `lovelace` to each address in turn, under output references of `11…11#0`, `#1`, … */
export function genesisOf(addresses: readonly Uint8Array[], lovelace = 100_000_000n): Genesis {
  return {
    startTime: Date.UTC(2025, 0, 1),
    networkMagic: 42,
    utxos: addresses.map((address, index) => ({
      outref: `${'11'.repeat(32)}#${index}`,
      output: toHex(new CborWriter().map(2).uint(0).bytes(address).uint(1).uint(lovelace).toBytes()),
    })),
  }
}
