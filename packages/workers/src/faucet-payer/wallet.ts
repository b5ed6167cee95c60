import { equalBytes } from '@ratatosk/cbor'
import {
  decodeTransaction,
  effects,
  type OutputReference,
  outputReferenceKey,
  slotToTime,
  type Utxo,
} from '@ratatosk/ledger'
import { type BuildContext, buildTransaction, isWalletError, type WalletKeys } from '@ratatosk/ledger/builder'
import type { Payment, UnsettledPayment } from '@ratatosk/ports'

/**
 * Why a call of this package failed.
 *
 * | code | meaning |
 * | --- | --- |
 * | `FAUCET_PAYER_CONFIGURATION` | an option is out of range, or keys and network do not match |
 * | `FAUCET_PAYER_CLOSED` | a claim was made after `close()` |
 * | `FAUCET_PAYER_BUSY` | other claims of this process kept the wallet busy; retry with the same key |
 */
export type FaucetPayerErrorCode = 'FAUCET_PAYER_CONFIGURATION' | 'FAUCET_PAYER_CLOSED' | 'FAUCET_PAYER_BUSY'

/** The error that this package throws. The message holds no key, token or `ipHash`. */
export class FaucetPayerError extends Error {
  override readonly name = 'FaucetPayerError'

  constructor(
    readonly code: FaucetPayerErrorCode,
    message: string,
  ) {
    super(message)
  }
}

/** Whether a caught value is a {@link FaucetPayerError}; works across copies of this package. */
export function isFaucetPayerError(value: unknown): value is FaucetPayerError {
  return value instanceof Error && value.name === 'FaucetPayerError'
}

/** A payment to build. */
export interface PaymentDraft {
  /** Bytes of the recipient's address (CIP-19). */
  readonly address: Uint8Array
  readonly lovelace: bigint
  /** Lovelace that the wallet must hold in addition to the amount; the fee is taken from it. */
  readonly minBalance: bigint
  /**
   * Payments whose outcome is not final, in the order in which they were recorded. The outputs that they
   * spend are not spent again. The change of those that were accepted may be spent.
   */
  readonly underWay: readonly UnsettledPayment[]
}

/** The outcome of {@link FaucetWallet.prepare}. */
export type Preparation =
  | {
      readonly kind: 'prepared'
      readonly payment: Payment
      /** The outputs of the wallet that the payment spends. */
      readonly spends: readonly OutputReference[]
    }
  /** The wallet can pay once payments under way are accepted. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'depleted' }

/** The outcome of {@link FaucetWallet.send}. */
export type Sending =
  /** The payment is final. */
  | { readonly kind: 'settled' }
  /** The network has accepted the payment. */
  | { readonly kind: 'accepted' }
  /** The network rejected the payment, and this call did not get it accepted. */
  | { readonly kind: 'rejected'; readonly error: unknown }
  /** The payment did not reach the network. */
  | { readonly kind: 'unsent'; readonly error: unknown }
  /** The payment may have reached the network. */
  | { readonly kind: 'unknown'; readonly error: unknown }

/**
 * The network's knowledge of a payment. `settled`: it is final. `accepted`: the network has it. `possible`:
 * the network does not know it, and may still accept it. `impossible`: it was not included and never will be.
 */
export type PaymentStatus = 'settled' | 'accepted' | 'possible' | 'impossible'

/**
 * The faucet's funds on one layer. A wallet is stateless: the caller passes the payments that are under way,
 * so processes that share a claim store may share the keys.
 */
export interface FaucetWallet {
  /**
   * Builds and signs a payment without sending it.
   *
   * @throws (rejects) when the network cannot be read
   */
  prepare(draft: PaymentDraft): Promise<Preparation>
  /**
   * Sends a payment. Sending the same bytes again has no further effect. Never rejects: network failures are
   * outcomes.
   */
  send(payment: Payment): Promise<Sending>
  /**
   * Looks a payment up.
   *
   * @throws (rejects) when the network cannot be read
   */
  status(payment: Payment): Promise<PaymentStatus>
}

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
