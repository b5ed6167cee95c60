import { readFileSync } from 'node:fs'
import { blake2b256, CborWriter, decodeBech32Address, toHex } from '@ratatosk/ledger'
import type { Genesis } from './genesis.js'

/** A wallet whose keys everybody knows. */
export interface TestWallet {
  /** Of the mnemonic, by CIP-1852. */
  readonly account: number
  /** Bech32, with payment and stake key. */
  readonly address: string
  /** The payment key: bech32 `ed25519e_sk`, 64 bytes extended. */
  readonly signingKey: string
}

export interface TestWallets {
  /** What to show wherever these keys are shown. */
  readonly warning: string
  /** 24 words. */
  readonly mnemonic: string
  readonly derivation: string
  readonly wallets: readonly TestWallet[]
}

/**
 * The wallets that own the default genesis. THEIR KEYS ARE PUBLIC: whatever is sent to them on a public network is lost.
 */
export const testWallets: TestWallets = JSON.parse(
  readFileSync(new URL('../../genesis/wallets.json', import.meta.url), 'utf8'),
)

export interface FundsOptions {
  /** How many outputs each wallet begins with. Default 5. */
  readonly outputs?: number
  /** Lovelace in each output. Default 10,000,000,000. */
  readonly lovelace?: bigint
  /** Default: 2025-01-01T00:00Z, so that a slot means the same after every restart. */
  readonly startTime?: number
  /** Default 42. */
  readonly networkMagic?: number
}

/** A genesis that gives every test wallet the same. */
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
