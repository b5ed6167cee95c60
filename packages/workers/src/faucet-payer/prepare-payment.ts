import { equalBytes } from '@ratatosk/cbor'
import { decodeTransaction, effects, outputReferenceKey, slotToTime, type Utxo } from '@ratatosk/ledger'
import { type BuildContext, buildTransaction, isWalletError, type WalletKeys } from '@ratatosk/ledger/builder'
import type { UnsettledPayment } from '@ratatosk/ports'
import type { PaymentDraft, Preparation } from './wallet.js'

/** How long after it was built a payment may be included. */
const lifetimeMs = 600_000
/** How much longer it counts as possible: allows for clock differences, forks and lagging servers. */
const marginMs = 300_000

interface WalletState extends Pick<BuildContext, 'parameters' | 'slots' | 'slot' | 'networkId'> {
  readonly keys: WalletKeys
  readonly unspent: readonly Utxo[]
}

/** Builds and signs a payment from outputs that no payment under way spends. */
export async function preparePayment(
  { address, lovelace, minBalance, underWay }: PaymentDraft,
  { keys, unspent, ...context }: WalletState,
): Promise<Preparation> {
  const own = keys.address.bytes
  const needed = lovelace + minBalance
  const { accepted, all } = spendable(unspent, underWay, own)
  const lacking: Preparation = {
    kind: balanceOf(all) >= needed && balanceOf(all) > balanceOf(accepted) ? 'busy' : 'depleted',
  }
  if (balanceOf(accepted) < needed) return lacking

  const { slot, slots } = context
  const validUntil = slot + BigInt(Math.ceil(lifetimeMs / slots.slotLength))
  try {
    const { transaction } = await buildTransaction(
      { outputs: [{ address, lovelace }], validUntil },
      { ...context, funds: accepted, changeAddress: own, signers: [keys.payment] },
    )
    const expiresAt = new Date(Number(slotToTime(slots, validUntil)) + marginMs)
    const payment = { id: transaction.id, cbor: transaction.bytes, expiresAt }
    return { kind: 'prepared', payment, spends: transaction.body.inputs }
  } catch (error) {
    if (isWalletError(error) && error.code === 'WALLET_INSUFFICIENT_FUNDS') return lacking
    throw error
  }
}

/** The outputs at an address that no payment under way spends. */
interface SpendableOutputs {
  /** Including the change of payments that the network has accepted. */
  readonly accepted: readonly Utxo[]
  /** Including the change of every payment under way. */
  readonly all: readonly Utxo[]
}

/** Outputs at an address that another payment may spend. `underWay`: payments in the order of recording. */
export function spendable(
  unspent: readonly Utxo[],
  underWay: readonly UnsettledPayment[],
  address: Uint8Array,
): SpendableOutputs {
  const accepted = byReference(unspent)
  const all = byReference(unspent)
  for (const payment of underWay) {
    const transaction = decodeTransaction(payment.payment.cbor)
    const inputs = transaction.body.inputs.map(outputReferenceKey)
    const change = effects(transaction).produced.filter(({ output }) =>
      equalBytes(output.address.bytes, address),
    )
    spend(all, inputs, change)
    spend(accepted, inputs, payment.accepted ? change : [])
  }
  return { accepted: [...accepted.values()], all: [...all.values()] }
}

function byReference(utxos: readonly Utxo[]): Map<string, Utxo> {
  return new Map(utxos.map((utxo) => [outputReferenceKey(utxo.reference), utxo]))
}

function spend(outputs: Map<string, Utxo>, inputs: readonly string[], change: readonly Utxo[]): void {
  // If one of the inputs is gone, the ledger already has this payment and its change.
  const included = inputs.some((key) => !outputs.has(key))
  for (const key of inputs) outputs.delete(key)
  if (included) return
  for (const utxo of change) outputs.set(outputReferenceKey(utxo.reference), utxo)
}

/** @returns lovelace */
function balanceOf(utxos: readonly Utxo[]): bigint {
  return utxos.reduce((sum, { output }) => sum + output.value.lovelace, 0n)
}
