import { randomBytes } from 'node:crypto'
import { testWallets } from '@ratatosk/devnet'
import { decodeOutputReference, decodeTransactionOutput, parseProtocolParameters } from '@ratatosk/ledger'
import { buildTransaction, keysFromSeedPhrase, keysFromSigningKey } from '@ratatosk/transaction'

const bytesOf = (hex) => Uint8Array.from(Buffer.from(hex, 'hex'))

/** A new key, with an address of the test networks. */
export function newWallet() {
  return keysFromSigningKey(randomBytes(32).toString('hex'), { networkId: 0 })
}

/** The unspent outputs of a wallet. */
export async function outputsOf(client, { addressText }) {
  const { utxos } = await client.listUtxos({ address: addressText })
  return utxos.map(({ outref, value }) => ({
    reference: decodeOutputReference(bytesOf(outref)),
    output: decodeTransactionOutput(bytesOf(value)),
  }))
}

export function lovelaceIn(utxos) {
  return utxos.reduce((sum, { output }) => sum + output.value.lovelace, 0n)
}

/**
 * A test wallet of the devnet with one of its outputs; undefined if no wallet has an output left. Takes any
 * wallet and any output, so that demos that run side by side rarely choose the same one.
 */
export async function findFunds(client) {
  for (const { account } of shuffled(testWallets.wallets)) {
    const wallet = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account })
    const [utxo] = shuffled(await outputsOf(client, wallet))
    if (utxo !== undefined) return { wallet, utxo }
  }
  return undefined
}

/** Builds and signs payments by what `GET /network` says of layer 2. */
export async function openBuilder(client) {
  const { protocolParameters, slotClock, networkId } = await client.getNetwork()
  const parameters = parseProtocolParameters(protocolParameters)
  const zeroTime = BigInt(slotClock.zeroTime)
  const slots = { zeroTime, zeroSlot: BigInt(slotClock.zeroSlot), slotLength: slotClock.slotLength }
  return {
    /** Spends one output; the change goes back to its owner. */
    async pay({ from, utxo, to, lovelace }) {
      const { bytes, id, fee } = await buildTransaction(
        { inputs: [{ utxo }], outputs: [{ address: to.addressText, lovelace }] },
        {
          funds: [],
          changeAddress: from.address.bytes,
          signers: [from.payment],
          parameters,
          slots,
          slot: slots.zeroSlot + (BigInt(Date.now()) - zeroTime) / BigInt(slots.slotLength),
          networkId,
        },
      )
      return { cborHex: Buffer.from(bytes).toString('hex'), hash: id, fee, size: bytes.length }
    },
  }
}

function shuffled(items) {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
