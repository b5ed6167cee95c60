import { encodeBech32Address, keyAddress } from '@ratatosk/ledger'
import { isWalletError } from '@ratatosk/transaction'
import type { WatcherContext } from './context.js'

/** Returned bonds that one transaction takes. */
const mostAtOnce = 30
/** Bytes of the datum of a returned bond: the name of its question. */
const datumLength = 34

/**
 * Takes the bonds of answered questions back into the wallet: the summons returns them to the wallet's key,
 * at an address without a stake part.
 */
export async function sweepBonds({ wallet, layer1, signal, log }: WatcherContext): Promise<void> {
  const { payment } = wallet.keys
  const address = encodeBech32Address(keyAddress(payment.hash, layer1.networkId))
  if (address === wallet.address) return
  const bonds = (await layer1.utxosAt(address, { signal })).filter(
    ({ output: { datum, value, referenceScript } }) =>
      datum.kind === 'inline' &&
      datum.data.length === datumLength &&
      value.assets.size === 0 &&
      referenceScript === undefined,
  )
  if (bonds.length === 0) return
  try {
    const inputs = bonds.slice(0, mostAtOnce).map((utxo) => ({ utxo }))
    const { id } = await wallet.send({ inputs }, { signal })
    log.info({ transaction: id, bonds: inputs.length }, 'Took bonds of questions back')
  } catch (error) {
    // They are taken already, by a transaction in flight.
    if (!isWalletError(error) || error.code !== 'WALLET_INVALID_DRAFT') throw error
  }
}
