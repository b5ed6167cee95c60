import { toHex } from '@ratatosk/cbor'
import type { Client } from '@ratatosk/client'
import { testWallets } from '@ratatosk/devnet'
import {
  decodeOutputReference,
  decodeTransactionOutput,
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
  keysFromSeedPhrase,
  type TransactionDraft,
  type WalletKeys,
} from '@ratatosk/ledger/builder'
import { CommandError } from '../frame/errors.js'
import { visible } from '../frame/plain-text.js'

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
