import { toHex } from '@ratatosk/cbor'
import { type Client, ClientError } from '@ratatosk/client'
import type { Failures } from '@ratatosk/ledger'
import { type DraftOutput, isWalletError, type WalletKeys } from '@ratatosk/ledger/builder'
import { CommandError } from '../frame/errors.js'
import { openBuilder, outputsOf } from './layer2.js'

/** An accepted transaction of {@link payAll}. */
interface Paid {
  readonly txHash: string
  /** How many outputs it pays, its first ones; 0 if it joins outputs of the wallet. */
  readonly payments: number
  /** Lovelace, decimal. */
  readonly fee: string
}

export interface PaidAll {
  /** In the order of the outputs that they pay. */
  readonly transactions: readonly Paid[]
  /** Why they are several: the rules that one transaction would break. */
  readonly reasons: Failures
}

const acceptedMs = 60_000

/**
 * Pays outputs on layer 2 from a wallet, in as many transactions as its limits require, and waits until each
 * is accepted. Builds all of them before it submits the first.
 * @throws CommandError, also with the code of a WalletError; or ClientError
 */
export async function payAll(
  client: Client,
  from: WalletKeys,
  outputs: readonly DraftOutput[],
): Promise<PaidAll> {
  const [builder, funds] = await Promise.all([openBuilder(client), outputsOf(client, from.addressText)])
  const { transactions, reasons } = await builder.buildAll(outputs, from, funds).catch((error: unknown) => {
    if (!isWalletError(error)) throw error
    throw new CommandError(error.code, `${error.message}.`)
  })
  const paid: Paid[] = []
  for (const { bytes, id, fee, payments } of transactions) {
    const txHash = toHex(id)
    try {
      const { id: submissionId } = await client.submit(toHex(bytes))
      await client.awaitTx(txHash, { submissionId, timeoutMs: acceptedMs })
    } catch (error) {
      if (!(error instanceof ClientError) || transactions.length === 1) throw error
      throw new CommandError(error.code, `${error.message}. ${stateOf(paid, transactions.length, txHash)}`)
    }
    paid.push({ txHash, payments, fee: String(fee) })
  }
  return { transactions: paid, reasons }
}

/** How far a chain came that has stopped. */
function stateOf(paid: readonly Paid[], count: number, failed: string): string {
  const made = paid.reduce((sum, { payments }) => sum + payments, 0)
  return (
    `${paid.length} of ${count} transactions were accepted, which make the first ${made} payments. ` +
    `Check ${failed} before you pay the others: \`GET /tx/status\` says whether it was accepted after all.`
  )
}
