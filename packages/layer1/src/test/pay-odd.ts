import { CborWriter } from '@ratatosk/cbor'
import { blake2b256, encodeOutputReference } from '@ratatosk/ledger'
import { type OutputContent, toLayer1Output, type WalletKeys } from '@ratatosk/ledger/builder'
import type { Layer1 } from '../types.js'

const fee = 2_000_000n

/**
 * Sends a transaction with outputs that the builder does not make, such as deep data, from the largest output
 * of a wallet. Resolves to its id.
 */
export async function payOdd(
  layer1: Pick<Layer1, 'utxosAt' | 'submit'>,
  { address, addressText, payment }: WalletKeys,
  contents: readonly OutputContent[],
): Promise<Uint8Array> {
  const plain = (await layer1.utxosAt(addressText)).filter(
    ({ output: { value, datum, referenceScript } }) =>
      value.assets.size === 0 && datum.kind === 'none' && referenceScript === undefined,
  )
  const [fund] = plain.sort((a, b) => Number(b.output.value.lovelace - a.output.value.lovelace))
  if (fund === undefined) throw new Error('The wallet is empty')
  const paid = contents.reduce((sum, { value }) => sum + value.lovelace, fee)
  const rest = { lovelace: fund.output.value.lovelace - paid, assets: new Map() }
  const all = [...contents, { address: address.bytes, value: rest, datum: { kind: 'none' } as const }]
  const body = new CborWriter(20_000).map(3).uint(0).array(1).raw(encodeOutputReference(fund.reference))
  body.uint(1).array(all.length)
  for (const content of all) body.raw(toLayer1Output(content).bytes)
  const bodyBytes = body.uint(2).uint(fee).toBytes()
  const signature = payment.sign(blake2b256(bodyBytes))
  const transaction = new CborWriter(20_000).array(4).raw(bodyBytes)
  transaction.map(1).uint(0).array(1).array(2).bytes(payment.publicKey).bytes(signature)
  return layer1.submit(transaction.boolean(true).null().toBytes())
}
