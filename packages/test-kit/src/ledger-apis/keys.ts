import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { CborWriter, toHex } from '@ratatosk/cbor'
import { blake2b224, decodeAddress, encodeBech32Address } from '@ratatosk/ledger'

/** A test key, derived from one byte. */
export interface TestKey {
  readonly publicKey: Uint8Array
  readonly hash: Uint8Array
  /** Enterprise address on a test network. */
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
  if (address.kind === 'byron') throw new TypeError('an enterprise address decoded as a Byron address')
  return {
    publicKey,
    hash,
    addressBytes,
    address: encodeBech32Address(address),
    sign: (message) => Uint8Array.from(sign(null, message, key)),
  }
}

/** The genesis of a devnet. */
export interface TestGenesis {
  /** POSIX milliseconds. */
  readonly startTime: number
  readonly networkMagic: number
  readonly utxos: readonly { readonly outref: string; readonly output: string }[]
}

/** A genesis that pays `lovelace` to each address, with the output references `11…11#0`, `#1`, … */
export function genesisOf(addresses: readonly Uint8Array[], lovelace = 100_000_000n): TestGenesis {
  return {
    startTime: Date.UTC(2025, 0, 1),
    networkMagic: 42,
    utxos: addresses.map((address, index) => ({
      outref: `${'11'.repeat(32)}#${index}`,
      output: toHex(new CborWriter().map(2).uint(0).bytes(address).uint(1).uint(lovelace).toBytes()),
    })),
  }
}
