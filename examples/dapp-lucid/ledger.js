// The ledger of CARDANO_API, or of CARDANO_KUPO and CARDANO_OGMIOS, and a wallet on it.
import { Blockfrost, Kupmios, Lucid, SLOT_CONFIG_NETWORK } from '@lucid-evolution/lucid'

const { CARDANO_API: api, CARDANO_KUPO: kupo, CARDANO_OGMIOS: ogmios, MNEMONIC: mnemonic } = process.env

// The ledger's clock: slot 0 is at its start.
async function clock() {
  if (api !== undefined) {
    const { system_start, slot_length } = await (await fetch(`${api}/genesis`)).json()
    return { zeroTime: system_start * 1000, slotLength: slot_length * 1000 }
  }
  const request = {
    jsonrpc: '2.0',
    method: 'queryNetwork/genesisConfiguration',
    params: { era: 'shelley' },
  }
  const response = await fetch(ogmios, { method: 'POST', body: JSON.stringify(request) })
  const { startTime, slotLength } = (await response.json()).result
  return { zeroTime: Date.parse(startTime), slotLength: slotLength.milliseconds }
}
SLOT_CONFIG_NETWORK.Custom = { ...(await clock()), zeroSlot: 0 }

const provider = api === undefined ? new Kupmios(kupo, ogmios) : new Blockfrost(api, 'no project id')
export const lucid = await Lucid(provider, 'Custom')
/** Selects the wallet of an account, from now on. @returns its address */
export function select(accountIndex) {
  lucid.selectWallet.fromSeed(mnemonic, { accountIndex })
  return lucid.wallet().address()
}

// The provider runs the scripts.
export const options = { localUPLCEval: false }
export const sign = (built) => built.sign.withWallet().complete()
export async function send(step, transaction) {
  const hash = await (await sign(await transaction.complete(options))).submit()
  await lucid.awaitTx(hash, 500)
  console.log(`${step} ${hash}`)
  return hash
}

export const largest = (outputs) =>
  outputs.reduce((a, b) => (b.assets.lovelace > a.assets.lovelace ? b : a), outputs[0])
