import { readFileSync } from 'node:fs'
import { CborWriter, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import type { PublicWallet } from '@ratatosk/client/wallet/script'
import {
  blake2b256,
  decodeBech32Address,
  decodeLayer1Output,
  type ProtocolParameters,
  parseProtocolParameters,
  type TransactionOutput,
} from '@ratatosk/ledger'
import { DevnetError } from './errors.js'

/** The initial state of a chain. Chains with equal genesis and equal blocks have equal hashes. */
export interface Genesis {
  /** Start of slot 0 in POSIX milliseconds. */
  readonly startTime: number
  /** Distinguishes test networks. Shelley addresses do not contain it. */
  readonly networkMagic: number
  /** Initial unspent outputs: the reference as `<64 hex digits>#<index>`, the output as CBOR in hex. */
  readonly utxos: readonly { readonly outref: string; readonly output: string }[]
}

interface GenesisOutput {
  readonly key: string
  readonly transactionHash: string
  readonly index: number
  readonly output: TransactionOutput
}

/**
 * Decodes the outputs of a genesis.
 * @throws {DevnetError} `DEVNET_CONFIGURATION` naming the entry that is not a valid output of a test network
 */
export function genesisOutputs({ utxos }: Genesis): GenesisOutput[] {
  const seen = new Set<string>()
  return utxos.map(({ outref, output: hex }, position) => {
    const fail = (reason: string): DevnetError =>
      new DevnetError('DEVNET_CONFIGURATION', `Invalid genesis: utxos[${position}]: ${reason}`)
    const match = /^([0-9a-fA-F]{64})#(\d{1,5})$/.exec(outref)
    const transactionHash = match?.[1]?.toLowerCase()
    const index = Number(match?.[2])
    if (transactionHash === undefined || index > 0xffff) throw fail(`"${outref}" is not an output reference`)
    const key = `${transactionHash}#${index}`
    if (seen.has(key)) throw fail(`duplicate output reference ${key}`)
    seen.add(key)
    const output = readOutput(hex, fail)
    if (output.address.networkId !== 0) throw fail('the address does not belong to a test network')
    return { key, transactionHash, index, output }
  })
}

function readOutput(hex: string, fail: (reason: string) => DevnetError): TransactionOutput {
  try {
    return decodeLayer1Output(fromHex(hex))
  } catch (error) {
    if (isDecodeError(error) || error instanceof RangeError) throw fail(error.message)
    throw error
  }
}

/** The hash that stands for the block before the first one. It commits to the whole genesis. */
export function genesisHash({ startTime, networkMagic, utxos }: Genesis, slotLengthMs: number): string {
  const text = JSON.stringify([
    'ratatosk devnet',
    startTime,
    networkMagic,
    slotLengthMs,
    utxos.map(({ outref, output }) => [outref.toLowerCase(), output.toLowerCase()]),
  ])
  return toHex(blake2b256(Buffer.from(text, 'utf8')))
}

export const ledgerVersions = ['10', '11'] as const

export type LedgerVersion = (typeof ledgerVersions)[number]

export const newestLedgerVersion: LedgerVersion = '11'

/** A version whose parameters the devnet has. */
export function ledgerVersionOf(major: number): LedgerVersion | undefined {
  return ledgerVersions.find((version) => version === String(major))
}

/** The protocol parameters of mainnet at ledger version 10, or of preprod at version 11, the default. */
export function defaultParameters(version: LedgerVersion = newestLedgerVersion): ProtocolParameters {
  const name = version === '10' ? 'devnet' : 'devnet-11'
  const file = new URL(`../parameters/${name}.json`, import.meta.url)
  return parseProtocolParameters(JSON.parse(readFileSync(file, 'utf8')))
}

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
  readFileSync(new URL('../genesis/wallets.json', import.meta.url), 'utf8'),
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
