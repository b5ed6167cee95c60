import { toHex } from '@ratatosk/cbor'
import { createOutbox, type Layer1, type Outbox, type Wallet } from '@ratatosk/layer1'
import { type BuiltTransaction, isWalletError } from '@ratatosk/ledger/builder'
import type { Log } from '@ratatosk/ports'

/** Lovelace. A wallet with less is funded, when something is owed. */
const minimumFunds = 20_000_000n
/** Lovelace of each output that it then gets: payouts side by side take one each. */
const piece = 15_000_000n
const pieces = 4

/** Options of {@link openFunds}. */
export interface FundsOptions {
  readonly layer1: Layer1
  readonly wallet: Wallet
  readonly fundedBy: Wallet | undefined
  readonly resendEverySlots: number
  readonly log: Log
}

/** The ada that pays the fees of payouts. */
export interface Funds {
  /** Sends ada to the wallet if it has too little. @returns whether some is on its way */
  keep(slot: bigint, validUntil: bigint, signal: AbortSignal): Promise<boolean>
}

/** Opens the funds of a wallet, which another one fills. */
export function openFunds({ layer1, wallet, fundedBy, resendEverySlots, log }: FundsOptions): Funds {
  const outbox: Outbox | undefined =
    fundedBy && createOutbox({ layer1, wallet: fundedBy, resendEverySlots, log })
  let sent: BuiltTransaction | undefined
  /** Why it could not be filled, without numbers, which vary. */
  let reported = ''

  async function fill(slot: bigint, validUntil: bigint, signal: AbortSignal): Promise<void> {
    if (fundedBy === undefined || outbox === undefined) return
    if (sent !== undefined && (await outbox.follow(sent, slot, { signal })) === 'pending') return
    sent = undefined
    const outputs = Array.from({ length: pieces }, () => ({ address: wallet.address, lovelace: piece }))
    try {
      const built = await fundedBy.build({ outputs, validUntil }, { signal })
      if ((await outbox.send(built, slot, { signal })) === 'refused') return
      sent = built
      reported = ''
      log.info({ transaction: toHex(built.id) }, 'Sent ada to the wallet that pays for payouts')
    } catch (error) {
      if (!isWalletError(error)) throw error
      const kind = error.message.replaceAll(/\d+/g, '')
      if (kind !== reported)
        log.warn({ reason: error.message }, 'The wallet that pays for payouts cannot be funded')
      reported = kind
    }
  }

  return {
    async keep(slot, validUntil, signal) {
      if ((await wallet.spendable({ paidByAda: true }, { signal })) >= minimumFunds) return false
      await fill(slot, validUntil, signal)
      return sent !== undefined
    },
  }
}
