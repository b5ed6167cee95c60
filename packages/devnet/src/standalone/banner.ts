import { testWallets } from '../genesis/wallets.js'
import type { StandaloneOptions } from './options.js'
import type { Standalone } from './start.js'

/** What is printed at the start: where the faces are, and whose money there is. */
export function banner({ devnet, url }: Standalone, { dataDirectory }: StandaloneOptions): string {
  const { warning, mnemonic, derivation, wallets } = testWallets
  const { height } = devnet.tip()
  const { zeroTime, slotLength } = devnet.slots
  return [
    'Ratatosk devnet: a Cardano layer 1 in this process',
    '',
    `  Blockfrost  ${url}/blockfrost/api/v0   (any project id)`,
    `  Kupo        ${url}/kupo`,
    `  Ogmios      ${url.replace('http', 'ws')}/ogmios   (and by POST)`,
    `  control     ${url}/devnet   (blocks, roll-backs, faults)`,
    '',
    `  chain       block ${height}, kept ${dataDirectory === undefined ? 'in memory' : `in ${dataDirectory}`}`,
    `  slots       of ${slotLength} ms since ${new Date(Number(zeroTime)).toISOString()}, network magic ${devnet.networkMagic}`,
    '',
    `  !! ${warning}`,
    '',
    `  mnemonic    ${mnemonic}`,
    `  derivation  ${derivation}`,
    ...wallets.map(
      ({ account, address }) => `  account ${String(account).padEnd(3)} ${address}  ${ada(address)} ada`,
    ),
    '',
  ].join('\n')

  function ada(address: string): bigint {
    const lovelace = devnet.utxos({ address }).reduce((sum, { output }) => sum + output.value.lovelace, 0n)
    return lovelace / 1_000_000n
  }
}
