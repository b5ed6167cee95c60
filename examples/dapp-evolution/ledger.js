// The ledger of CARDANO_API, or of CARDANO_KUPO and CARDANO_OGMIOS, and wallets on it.
import { Assets, Client, TransactionHash } from '@evolution-sdk/evolution'

const { CARDANO_API: api, CARDANO_KUPO: kupo, CARDANO_OGMIOS: ogmios, MNEMONIC: mnemonic } = process.env

// The ledger's network and clock: slot 0 is at its start.
async function readGenesis() {
  if (api !== undefined) {
    const genesis = await (await fetch(`${api}/genesis`)).json()
    return {
      magic: genesis.network_magic,
      start: genesis.system_start * 1000,
      slotLength: genesis.slot_length * 1000,
      epochLength: genesis.epoch_length,
    }
  }
  const request = {
    jsonrpc: '2.0',
    method: 'queryNetwork/genesisConfiguration',
    params: { era: 'shelley' },
  }
  const response = await fetch(ogmios, { method: 'POST', body: JSON.stringify(request) })
  const genesis = (await response.json()).result
  return {
    magic: genesis.networkMagic,
    start: Date.parse(genesis.startTime),
    slotLength: genesis.slotLength.milliseconds,
    epochLength: genesis.epochLength,
  }
}
const { magic, start, slotLength, epochLength } = await readGenesis()
const unknown = Client.make({
  name: 'the ledger of the environment',
  id: 0,
  networkMagic: magic,
  slotConfig: { zeroTime: BigInt(start), zeroSlot: 0n, slotLength },
  epochLength,
})
const ledger =
  api === undefined
    ? unknown.withKupmios({ kupoUrl: kupo, ogmiosUrl: ogmios })
    : unknown.withBlockfrost({ baseUrl: api })
/** The wallet of an account. */
export const open = (accountIndex = 0) => ledger.withSeed({ mnemonic, accountIndex })

export const ada = (quantity) => Assets.fromLovelace(quantity * 1_000_000n)
export async function confirm(client, step, hash) {
  await client.awaitTx(hash, 500)
  console.log(`${step} ${TransactionHash.toHex(hash)}`)
  return TransactionHash.toHex(hash)
}
export const send = async (client, step, transaction) =>
  confirm(client, step, await (await transaction.build()).signAndSubmit())

export const largest = (utxos) =>
  utxos.reduce((a, b) => (b.assets.lovelace > a.assets.lovelace ? b : a), utxos[0])
