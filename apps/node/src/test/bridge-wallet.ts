import { fromHex, toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { createBlockfrostLayer1, type Layer1 } from '@ratatosk/layer1'
import {
  decodeTransaction,
  decodeTransactionOutput,
  encodeUtxo,
  type OutputReference,
  type ProtocolParameters,
  type SlotConfig,
  timeToSlot,
  type Utxo,
} from '@ratatosk/ledger'
import {
  type BuiltTransaction,
  buildTransaction,
  type DraftOutput,
  keysFromSeedPhrase,
  type SigningKey,
  signed,
  type WalletKeys,
} from '@ratatosk/ledger/builder'
import { ask, until } from '@ratatosk/test-kit/http'

/** The keys of one of the devnet's test wallets, which has funds on both layers. */
export const walletOf = (account: number): WalletKeys =>
  keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account })

/** Layer 1 of a node that serves its devnet. @param place `places.layer1` of the node */
export function layer1Of(place: string | undefined): Layer1 {
  const url = /http\S+/.exec(place ?? '')?.[0] ?? ''
  return createBlockfrostLayer1({ url: `${url}/blockfrost/api/v0`, networkMagic: 42, pollMs: 200 })
}

/** Outputs as a CIP-30 wallet gives them, in hex. */
export const walletOutputs = (utxos: readonly Utxo[]): readonly string[] =>
  utxos.map((utxo) => toHex(encodeUtxo(utxo)))

/** Signs a transaction as a CIP-30 wallet does. */
export const signedBy = (key: SigningKey, unsigned: string): string =>
  toHex(signed(decodeTransaction(fromHex(unsigned)), [key]))

interface Spending {
  readonly keys: WalletKeys
  readonly funds: readonly Utxo[]
  readonly outputs: readonly DraftOutput[]
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
}

/** Builds and signs a layer-2 payment. */
export const payment = ({ keys, funds, outputs, parameters, slots }: Spending): Promise<BuiltTransaction> =>
  buildTransaction(
    { outputs },
    {
      funds,
      changeAddress: keys.address.bytes,
      signers: [keys.payment],
      parameters,
      slots,
      slot: timeToSlot(slots, BigInt(Date.now())),
      networkId: 0,
    },
  )

/** An unspent output of layer 2. */
export const utxoOf = (reference: OutputReference, output: Uint8Array): Utxo => ({
  reference,
  output: decodeTransactionOutput(output),
})

/** Posts JSON, again while the node is busy. @throws Error for another status than 200 */
export async function post(url: string, body: unknown): Promise<Record<string, string>> {
  const question = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  } as const
  let answer = await ask(url, question)
  await until(
    async () => {
      if (answer.status === 503) answer = await ask(url, question)
      return answer.status !== 503
    },
    { what: `${url} is not busy` },
  )
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${answer.body}`)
  return JSON.parse(answer.body)
}
