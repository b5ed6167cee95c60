import { toHex } from '@ratatosk/cbor'
import { encodeBech32Address, keyAddress } from '@ratatosk/ledger'
import { isWalletError } from '@ratatosk/ledger/builder'
import type { WatcherContext } from './context.js'
import { follow, forget, send } from './send.js'
import { sparedOf } from './spared.js'

/** Returned bonds that one transaction takes. */
const mostAtOnce = 30
/** Bytes of the datum of a returned bond: the name of its question. */
const datumLength = 34

/** Returns the bonds of answered questions to the wallet, from its key's address without a stake part. */
export async function sweepBonds(context: WatcherContext, slot: bigint): Promise<boolean> {
  const { wallet, layer1, signal, log, sendings } = context
  const { payment } = wallet.keys
  const address = encodeBech32Address(keyAddress(payment.hash, layer1.networkId))
  if (address === wallet.address) return false
  const sweeps = [...sendings.values()].map(({ transaction }) => transaction)
  const earlier = await follow(
    context,
    sweeps.filter(({ stage }) => stage === 'sweep'),
    slot,
  )
  if (earlier.some(({ state }) => state === 'pending')) return true
  const bonds = (await layer1.utxosAt(address, { signal })).filter(
    ({ output: { datum, value, referenceScript } }) =>
      datum.kind === 'inline' &&
      datum.data.length === datumLength &&
      value.assets.size === 0 &&
      referenceScript === undefined,
  )
  if (bonds.length === 0) return false
  try {
    const inputs = bonds.slice(0, mostAtOnce).map((utxo) => ({ utxo }))
    const { id, bytes } = await wallet.build({ inputs }, { signal, spared: await sparedOf(context) })
    const sweep = { id, cbor: bytes, stage: 'sweep' } as const
    if (!(await send(context, sweep))) await forget(context, sweep)
    else log.info({ transaction: toHex(id), bonds: inputs.length }, 'Took bonds of questions back')
  } catch (error) {
    // They are taken already, by a transaction in flight.
    if (!isWalletError(error) || error.code !== 'WALLET_INVALID_DRAFT') throw error
  }
  return true
}
