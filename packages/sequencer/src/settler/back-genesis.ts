import { toHex } from '@ratatosk/cbor'
import type { Layer1, Wallet } from '@ratatosk/layer1'
import { decodeTransactionOutput } from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import { readBridge } from '@ratatosk/protocol'
import type { LedgerEntry } from '@ratatosk/store'
import type { BridgeContracts } from './types.js'

/** Reserves that the treasury gets at a time, so that payouts side by side need not share one. */
const pieces = 4n

/** Options of {@link backGenesis}. */
export interface BackGenesisOptions {
  readonly layer1: Layer1
  readonly contracts: BridgeContracts
  /** The outputs of layer 2 that no deposit backs. */
  readonly genesis: readonly LedgerEntry[]
  /** Pay in this order, each as much as it has but for `spared`. */
  readonly wallets: readonly Wallet[]
  /** Lovelace that stays with each wallet. @defaultValue 200 ada */
  readonly spared?: bigint
  readonly log?: Log
  readonly signal?: AbortSignal
}

/** The money of a treasury for a genesis, in lovelace. */
export interface Backing {
  /** The sum that layer 2 starts with. */
  readonly genesis: bigint
  /** The sum that the treasury has now, transactions in flight included. */
  readonly treasury: bigint
  /** Ids of the transactions that were sent, 64 hex digits. */
  readonly txHashes: readonly string[]
}

/**
 * Pays reserves to the treasury until they hold the ada of a genesis, for a devnet whose ledger starts with
 * outputs that no one has deposited.
 *
 * @returns `treasury` < `genesis` if the wallets have too little
 * @throws {Layer1Error} (rejects)
 * @throws {WalletError} (rejects)
 */
export async function backGenesis(options: BackGenesisOptions): Promise<Backing> {
  const { layer1, contracts, wallets, spared = 200_000_000n, log, signal } = options
  const call = signal ? { signal } : {}
  const { place, terms } = contracts.bridge
  const genesis = options.genesis
    .map(({ output }) => decodeTransactionOutput(output).value.lovelace)
    .reduce((sum, lovelace) => sum + lovelace, 0n)
  const { utxos } = await layer1.utxosAsOf(place.addressText, call)
  let treasury = readBridge(contracts, utxos)
    .reserves.map(({ output }) => output.value.lovelace)
    .reduce((sum, lovelace) => sum + lovelace, 0n)
  const txHashes: string[] = []
  for (const wallet of wallets) {
    const has = (await wallet.balance(call)).lovelace - spared
    const missing = genesis - treasury
    if (has < terms.reserveMin || missing < terms.reserveMin) continue
    const amount = lesser(has, missing)
    const count = amount / pieces < terms.reserveMin ? 1n : pieces
    const outputs = Array.from({ length: Number(count) }, (_, index) => ({
      address: place.address,
      lovelace: amount / count + (index === 0 ? amount % count : 0n),
    }))
    const { id } = await wallet.send({ outputs }, call)
    treasury += amount
    txHashes.push(toHex(id))
  }
  log?.info({ genesis: Number(genesis), treasury: Number(treasury) }, 'The treasury backs the genesis')
  return { genesis, treasury, txHashes }
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)
