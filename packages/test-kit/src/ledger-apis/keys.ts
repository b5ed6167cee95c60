import { toHex } from '@ratatosk/cbor'
import { encodeOutput, type TestKey as FixtureKey, keyOf } from '@ratatosk/fixtures'
import { decodeAddress, encodeBech32Address } from '@ratatosk/ledger'

/** A test key, derived from one byte. */
export interface TestKey extends Omit<FixtureKey, 'address'> {
  /** Enterprise address on a test network. */
  readonly addressBytes: Uint8Array
  readonly address: string
}

export function testKey(seed: number): TestKey {
  const { address: addressBytes, ...key } = keyOf(seed)
  const address = decodeAddress(addressBytes)
  if (address.kind === 'byron') throw new TypeError('an enterprise address decoded as a Byron address')
  return { ...key, addressBytes, address: encodeBech32Address(address) }
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
      output: toHex(encodeOutput({ address, lovelace })),
    })),
  }
}
