import { toHex } from '@ratatosk/cbor'
import { type Client, ClientError, RejectedError, StatusError } from '@ratatosk/client'
import type { Failures } from '@ratatosk/ledger'
import { type DraftOutput, isWalletError, type WalletKeys } from '@ratatosk/ledger/builder'
import { ada } from '../frame/ada.js'
import { CommandError } from '../frame/errors.js'
import { afterSending } from '../frame/sent.js'
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

interface PayOptions {
  /** The most that one transaction may cost, in lovelace. Default: 1 ada, more than any payment costs. */
  readonly maxFee?: bigint | undefined
  /** Told the hash of each transaction before it is submitted, and how far a chain is. */
  onProgress?: ((state: string) => void) | undefined
}

/**
 * Pays outputs on layer 2 from a wallet, in as many transactions as its limits require, and waits until each
 * is accepted. Builds all of them before it submits the first.
 * @throws CommandError, also with the code of a WalletError; or ClientError
 */
export async function payAll(
  client: Client,
  from: WalletKeys,
  outputs: readonly DraftOutput[],
  { maxFee = 1_000_000n, onProgress }: PayOptions = {},
): Promise<PaidAll> {
  const [builder, funds] = await Promise.all([openBuilder(client), outputsOf(client, from.addressText)])
  const { transactions, reasons } = await builder.buildAll(outputs, from, funds).catch((error: unknown) => {
    if (!isWalletError(error)) throw error
    const isPoor = error.code === 'WALLET_INSUFFICIENT_FUNDS'
    throw new CommandError(error.code, `${error.message}${isPoor ? fundAdvice(from.addressText) : '.'}`)
  })
  const costly = transactions.find(({ fee }) => fee > maxFee)
  if (costly !== undefined) throw feeRefusal(costly.fee, maxFee)
  const count = transactions.length
  const paid: Paid[] = []
  for (const { bytes, id, fee, payments } of transactions) {
    const txHash = toHex(id)
    const payment = { txHash, payments, fee: String(fee) }
    onProgress?.(`${count > 1 ? `${accepted(paid, count)}. Next is` : 'Submitting'} ${txHash}`)
    let isTaken = false
    try {
      const { id: submissionId } = await client.submit(toHex(bytes))
      isTaken = true
      await client.awaitTx(txHash, { submissionId, timeoutMs: acceptedMs })
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      const isRefused = error instanceof RejectedError || (!isTaken && isRefusal(error))
      const state = count === 1 ? '' : `${accepted(paid, count)}. `
      throw afterSending(
        error,
        isRefused
          ? {
              value: { txHash, transactions: paid },
              advice: `${state}${txHash} was refused, and has spent nothing`,
            }
          : {
              value: { txHash, transactions: [...paid, payment] },
              advice: `${state}${sentAdvice(txHash, isTaken)}`,
            },
      )
    }
    paid.push(payment)
  }
  return { transactions: paid, reasons }
}

/** How a wallet on layer 2 gets more. */
const fundAdvice = (address: string): string =>
  `. Its address is ${address}: pay to it with \`ratatosk pay\` from another wallet, or with ` +
  '`ratatosk deposit` from layer 1.'

/** Advice instead of a second payment. @param isTaken whether the node has said that it has it */
const sentAdvice = (txHash: string, isTaken: boolean): string => {
  const route = `\`GET /tx/status?tx_hash=${txHash}\``
  return isTaken
    ? `The transaction ${txHash} was sent: do not pay again unless ${route} says that it was rejected`
    : `The transaction ${txHash} may have been sent: do not pay again before ${route} says whether it was`
}

/** Whether the node says that it has not taken what was submitted. */
export const isRefusal = (error: ClientError): boolean => error instanceof StatusError && error.status < 500

/** A node that names the fees also gets them. */
const feeRefusal = (fee: bigint, maxFee: bigint): CommandError =>
  new CommandError(
    'CLI_FEE',
    `By the parameters of the node, a transaction costs ${ada(fee)}, more than ${ada(maxFee)}. ` +
      'Nothing was submitted. `--max-fee` raises the limit.',
  )

/** How far a chain came. */
function accepted(paid: readonly Paid[], count: number): string {
  const made = paid.reduce((sum, { payments }) => sum + payments, 0)
  return `${paid.length} of ${count} transactions were accepted, which make the first ${made} payments`
}
