import { CborReader, CborWriter, concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { type Cip30Api, layer2 } from '@ratatosk/client/wallet'
import { blake2b256, decodeTransactionOutput } from '@ratatosk/ledger'

export { layer2 }

const fee = 200_000n

/** A payment that a wallet has not signed. */
export interface Draft {
  readonly body: Uint8Array
  readonly id: string
  /** CBOR in hex, without witnesses. */
  readonly tx: string
}

/** Drafts a payment with a CIP-30 wallet only: its outputs pay, and the rest returns to it. */
export async function draftPayment(api: Cip30Api, to: string, lovelace: bigint): Promise<Draft> {
  const wanted = toHex(new CborWriter().uint(lovelace + fee + 2_000_000n).toBytes())
  const utxos = await api.getUtxos(wanted)
  if (utxos === null) throw new Error('The wallet has too little')
  const parts = utxos.map((utxo) => split(fromHex(utxo)))
  const inputs = parts.map(({ input }) => input)
  const held = parts.map(({ output }) => decodeTransactionOutput(output).value.lovelace)
  const change = held.reduce((sum, part) => sum + part, 0n) - lovelace - fee
  const writer = new CborWriter().map(3).uint(0).array(inputs.length)
  for (const input of inputs) writer.raw(input)
  writer.uint(1).array(2).array(2).bytes(fromHex(to)).uint(lovelace)
  writer
    .array(2)
    .bytes(fromHex(await api.getChangeAddress()))
    .uint(change)
  const body = writer.uint(2).uint(fee).toBytes()
  return { body, id: toHex(blake2b256(body)), tx: toHex(assemble(body, Uint8Array.of(0xa0))) }
}

/** Pays through a CIP-30 wallet, and returns the id that the wallet answers and the one expected. */
export async function pay(api: Cip30Api, to: string, lovelace: bigint): Promise<[string, string]> {
  const { body, id, tx } = await draftPayment(api, to, lovelace)
  const witnesses = fromHex(await api.signTx(tx))
  return [await api.submitTx(toHex(assemble(body, witnesses))), id]
}

function assemble(body: Uint8Array, witnesses: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(0x84), body, witnesses, Uint8Array.of(0xf5, 0xf6))
}

/** The two parts of a `TransactionUnspentOutput`. */
function split(bytes: Uint8Array): { readonly input: Uint8Array; readonly output: Uint8Array } {
  const reader = new CborReader(bytes)
  reader.readArray()
  const start = reader.position
  reader.skip()
  return { input: reader.since(start), output: bytes.subarray(reader.position) }
}
