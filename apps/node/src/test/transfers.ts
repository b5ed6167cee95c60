import { devnetFunds } from './devnet-funds.js'
import { builderConfig, devnetParameters, signedTransfer, type Transfer } from './transfer.js'
import { newWallet } from './wallet.js'

/** A valid transfer of 5 ada from a genesis output of the devnet to an unused address. */
export async function transferFrom(
  account: number,
  place: number,
): Promise<{ transfer: Transfer; receiver: string }> {
  const { wallet, utxo } = devnetFunds(account, place)
  const receiver = newWallet()
  const transfer = signedTransfer(
    builderConfig(await devnetParameters()),
    wallet,
    utxo,
    receiver.address,
    5_000_000n,
  )
  return { transfer, receiver: receiver.bech32 }
}
