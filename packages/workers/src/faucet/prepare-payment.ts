import {
  type BuildContext,
  buildTransaction,
  isWalletError,
  type Utxo,
  type WalletKeys,
} from '@ratatosk/layer1'
import { slotToTime } from '@ratatosk/ledger'
import { balanceOf, spendable } from './spendable.js'
import type { FaucetPaymentDraft, FaucetPreparation } from './types.js'

/** How long a payment may be included after it was built. */
const lifetimeMs = 600_000
/** How long after that it counts as possible: for clocks that disagree, forks, and servers that lag behind. */
const marginMs = 300_000

/** What a ledger says of the wallet. */
export interface Funds extends Pick<BuildContext, 'parameters' | 'slots' | 'slot' | 'networkId'> {
  readonly keys: WalletKeys
  /** What is unspent at the wallet's address. */
  readonly unspent: readonly Utxo[]
}

/** Builds and signs a payment from what no payment under way spends. */
export async function preparePayment(
  { address, lovelace, floor, underWay }: FaucetPaymentDraft,
  { keys, unspent, ...ledger }: Funds,
): Promise<FaucetPreparation> {
  const own = keys.address.bytes
  const needed = lovelace + floor
  const funds = spendable(unspent, underWay, own, 'now')
  const later = balanceOf(spendable(unspent, underWay, own, 'later'))
  const lacking: FaucetPreparation = {
    kind: later >= needed && later > balanceOf(funds) ? 'busy' : 'depleted',
  }
  if (balanceOf(funds) < needed) return lacking

  const { slot, slots } = ledger
  const validUntil = slot + BigInt(Math.ceil(lifetimeMs / slots.slotLength))
  try {
    const { transaction } = await buildTransaction(
      { outputs: [{ address, lovelace }], validUntil },
      { ...ledger, funds, changeAddress: own, signers: [keys.payment] },
    )
    const expiresAt = new Date(Number(slotToTime(slots, validUntil)) + marginMs)
    const payment = { id: transaction.id, cbor: transaction.bytes, expiresAt }
    return { kind: 'prepared', payment, spends: transaction.body.inputs }
  } catch (error) {
    if (isWalletError(error) && error.code === 'WALLET_INSUFFICIENT_FUNDS') return lacking
    throw error
  }
}
