import { readFileSync } from 'node:fs'
import { CborWriter, toHex } from '@ratatosk/cbor'
import type { PublicWallet } from '@ratatosk/client/wallet/script'
import { blake2b256, decodeBech32Address } from '@ratatosk/ledger'
import type { Genesis } from './genesis.js'

/** The public test wallets and the mnemonic that they derive from. */
export interface TestWallets {
  /** A warning to print next to these keys. */
  readonly warning: string
  /** 24 words (BIP-39). */
  readonly mnemonic: string
  /** Derivation paths of the keys. */
  readonly derivation: string
  readonly wallets: readonly PublicWallet[]
}

/**
 * The wallets that the default genesis funds. THEIR KEYS ARE PUBLIC: funds sent to them on a public network
 * are lost.
 */
export const testWallets: TestWallets = JSON.parse(
  readFileSync(new URL('../../genesis/wallets.json', import.meta.url), 'utf8'),
)

/** Options of {@link testGenesis}. */
export interface FundsOptions {
  /** Number of outputs per wallet. Default 5. */
  readonly outputs?: number
  /** Lovelace in each output. Default 10,000,000,000. */
  readonly lovelace?: bigint
  /** Start of slot 0 in POSIX milliseconds. Default 2025-01-01T00:00Z, the same after a restart. */
  readonly startTime?: number
  /** Default 42. */
  readonly networkMagic?: number
}

/** A genesis that funds every test wallet equally. */
export function testGenesis(options: FundsOptions = {}): Genesis {
  const {
    outputs = 5,
    lovelace = 10_000_000_000n,
    startTime = Date.UTC(2025, 0, 1),
    networkMagic = 42,
  } = options
  const transactionHash = toHex(blake2b256(Buffer.from('ratatosk devnet genesis', 'utf8')))
  const utxos = testWallets.wallets.flatMap(({ address }) => {
    const { bytes } = decodeBech32Address(address)
    const output = toHex(new CborWriter().map(2).uint(0).bytes(bytes).uint(1).uint(lovelace).toBytes())
    return Array.from({ length: outputs }, () => output)
  })
  return {
    startTime,
    networkMagic,
    utxos: utxos.map((output, index) => ({ outref: `${transactionHash}#${index}`, output })),
  }
}
