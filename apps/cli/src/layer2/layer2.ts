import { toHex } from '@ratatosk/cbor'
import { type Client, ClientError, RejectedError, StatusError } from '@ratatosk/client'
import { testWallets } from '@ratatosk/devnet'
import {
  decodeOutputReference,
  decodeTransactionOutput,
  type Failures,
  type ProtocolParameters,
  parseProtocolParameters,
  type SlotConfig,
  timeToSlot,
  type Utxo,
} from '@ratatosk/ledger'
import {
  type BuildContext,
  type BuiltPayments,
  buildPayments,
  buildTransaction,
  type DraftOutput,
  isWalletError,
  keysFromSeedPhrase,
  type TransactionDraft,
  type WalletKeys,
} from '@ratatosk/ledger/builder'
import { CommandError } from '../frame/errors.js'
import { afterSending } from '../frame/node-connection.js'
import { ada, visible } from '../frame/text.js'

export interface SignedPayment {
  /** CBOR in hex. */
  readonly transaction: string
  readonly txHash: string
  readonly fee: bigint
}

/** The amount, sender and receiver of a payment. */
interface PaymentDraft {
  readonly from: WalletKeys
  readonly utxo: Utxo
  /** Bech32. */
  readonly to: string
  readonly lovelace: bigint
  /** Outputs of this much. Default: 1. */
  readonly count?: number
}

/** Builds payments on layer 2. */
export interface PaymentBuilder {
  readonly network: string
  /** Spends from the outputs of a wallet. @throws {WalletError} (rejects) */
  build(draft: TransactionDraft, from: WalletKeys, funds: readonly Utxo[]): Promise<SignedPayment>
  /** Pays in as many transactions as the limits of layer 2 require. @throws {WalletError} (rejects) */
  buildAll(outputs: readonly DraftOutput[], from: WalletKeys, funds: readonly Utxo[]): Promise<BuiltPayments>
  /** Spends one output; the change goes back to its owner. */
  pay(draft: PaymentDraft): Promise<SignedPayment>
}

export async function outputsOf(client: Client, address: string): Promise<readonly Utxo[]> {
  const { utxos } = await client.listUtxos({ address })
  return understood('GET /utxos', () =>
    utxos.map(({ outref, value }) => ({
      reference: decodeOutputReference(Buffer.from(outref, 'hex')),
      output: decodeTransactionOutput(Buffer.from(value, 'hex')),
    })),
  )
}

/** @throws CommandError if the node's answer cannot be read */
function understood<T>(request: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
    throw new CommandError('CLI_ANSWER', `${request}: the answer cannot be read: ${visible(reason ?? '')}`)
  }
}

export function lovelaceIn(utxos: readonly Utxo[]): bigint {
  return utxos.reduce((sum, { output }) => sum + output.value.lovelace, 0n)
}

/** An output of a test wallet of the devnet. */
interface DevnetFunds {
  readonly from: WalletKeys
  readonly utxo: Utxo
}

/** An output of a test wallet of the devnet with at least this much; undefined if there is no such output. */
export async function devnetFunds(client: Client, lovelace: bigint): Promise<DevnetFunds | undefined> {
  const [funds] = await manyDevnetFunds(client, lovelace, 1)
  return funds
}

/** Outputs of test wallets of the devnet with at least this much each. */
export async function manyDevnetFunds(
  client: Client,
  lovelace: bigint,
  most: number,
): Promise<DevnetFunds[]> {
  const found: DevnetFunds[] = []
  // Any wallet and any output, so that programs that run side by side rarely choose the same one. The first
  // wallets come last: they are the administrator, the operator and the faucet.
  const [first, others] = [testWallets.wallets.slice(0, 3), testWallets.wallets.slice(3)]
  for (const { account } of [...fromAnywhere(others), ...first]) {
    const from = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account })
    const enough = (await outputsOf(client, from.addressText)).filter(
      ({ output }) => output.value.lovelace >= lovelace && output.value.assets.size === 0,
    )
    for (const utxo of fromAnywhere(enough)) if (found.push({ from, utxo }) === most) return found
  }
  return found
}

/** The same list, which begins anywhere. */
function fromAnywhere<T>(list: readonly T[]): readonly T[] {
  const start = Math.floor(Math.random() * list.length)
  return [...list.slice(start), ...list.slice(0, start)]
}

export async function parametersOf(client: Client): Promise<ProtocolParameters> {
  const { protocolParameters } = await client.getNetwork()
  return understood('GET /network', () => parseProtocolParameters(protocolParameters))
}

/** Builds and signs payments by what `GET /network` says of layer 2. */
export async function openBuilder(client: Client): Promise<PaymentBuilder> {
  const { network, networkId, protocolParameters, slotClock } = await client.getNetwork()
  const parameters: ProtocolParameters = understood('GET /network', () =>
    parseProtocolParameters(protocolParameters),
  )
  const slots: SlotConfig = {
    zeroTime: BigInt(slotClock.zeroTime),
    zeroSlot: BigInt(slotClock.zeroSlot),
    slotLength: slotClock.slotLength,
  }
  const contextOf = (from: WalletKeys, funds: readonly Utxo[]): BuildContext => ({
    funds,
    changeAddress: from.address.bytes,
    signers: [from.payment],
    parameters,
    slots,
    slot: timeToSlot(slots, BigInt(Date.now())),
    networkId: networkId === 1 ? 1 : 0,
  })
  const build: PaymentBuilder['build'] = async (draft, from, funds) => {
    const { bytes, id, fee } = await buildTransaction(draft, contextOf(from, funds))
    return { transaction: Buffer.from(bytes).toString('hex'), txHash: toHex(id), fee }
  }
  return {
    network,
    build,
    buildAll: (outputs, from, funds) => buildPayments({ outputs }, contextOf(from, funds)),
    pay({ from, utxo, to, lovelace, count = 1 }) {
      const outputs = Array.from({ length: count }, () => ({ address: to, lovelace }))
      return build({ inputs: [{ utxo }], outputs }, from, [])
    },
  }
}

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
  ` on layer 2. Its address is ${address}: pay to it with \`ratatosk pay\` from another wallet, or with ` +
  '`ratatosk deposit` from layer 1, where the faucet pays unless its FAUCET_LAYER is 2.'

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
