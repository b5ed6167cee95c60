import { toHex } from '@ratatosk/cbor'
import type { Client } from '@ratatosk/client'
import { testWallets } from '@ratatosk/devnet'
import { blake2b224, parseProtocolParameters, timeToSlot, type Utxo } from '@ratatosk/ledger'
import {
  buildTransaction,
  keysFromSeedPhrase,
  type ScriptContent,
  type TransactionDraft,
} from '@ratatosk/ledger/builder'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { outputsOf } from '../layer2/layer2.js'

/** Plutus V3: succeeds if the redeemer is 42. */
const wants42 =
  '583c01000025333573466e1d2054375a6ae84d5d11aab9e3754002293099319ab9c491177468652072656465656d6572' +
  '206d757374206265203432004981'

const script: ScriptContent = { language: 'PlutusV3', bytes: Buffer.from(wants42, 'hex') }
const scriptHash = blake2b224(Buffer.concat([Uint8Array.of(3), script.bytes]))
const policy = toHex(scriptHash)
/** Of a script, on a test network. */
const scriptAddress = Uint8Array.of(0x70, ...scriptHash)
const redeemer = Uint8Array.of(0x18, 42)

/**
 * The test wallets of the devnet that the node does not use. They pay, mint, burn, lock and unlock on
 * layer 2, by the node of `connect` or by another one.
 */
export async function openUsers(connect: () => Client) {
  const evaluator = createEvaluator({ threads: 1 })
  const { protocolParameters, slotClock } = await connect().getNetwork()
  const parameters = parseProtocolParameters(protocolParameters)
  const slots = {
    zeroTime: BigInt(slotClock.zeroTime),
    zeroSlot: BigInt(slotClock.zeroSlot),
    slotLength: slotClock.slotLength,
  }
  const users = testWallets.wallets.slice(3).map(({ account }) => {
    const keys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account })

    /** The outputs of this user at the script. */
    const locked: Utxo[] = []

    async function send(
      draft: (funds: readonly Utxo[]) => TransactionDraft,
      client: Client = connect(),
    ): Promise<{ readonly id: string; readonly produced: readonly Utxo[] }> {
      const funds = await outputsOf(client, keys.addressText)
      const built = await buildTransaction(draft(funds), {
        funds,
        changeAddress: keys.address.bytes,
        signers: [keys.payment],
        parameters,
        slots,
        slot: timeToSlot(slots, BigInt(Date.now())),
        networkId: 0,
        evaluator,
      })
      const { id: submissionId } = await client.submit(toHex(built.bytes))
      const id = toHex(built.id)
      await client.awaitTx(id, { submissionId, timeoutMs: 60_000 })
      return { id, produced: built.produced }
    }

    return {
      address: keys.addressText,
      /** Pays an address. Resolves with the id once it is accepted. */
      pay: async (to: string, lovelace: bigint, client?: Client) =>
        (await send(() => ({ outputs: [{ address: to, lovelace }] }), client)).id,
      /** Mints tokens by a Plutus script, or burns one if the wallet has one. */
      mint: async (quantity: bigint, burns: boolean, client?: Client) => {
        const draft = (funds: readonly Utxo[]) => {
          const hasOne = funds.some(({ output }) => output.value.assets.has(policy))
          const assets = new Map([['00', burns && hasOne ? -1n : quantity]])
          return { mint: [{ policy, assets, redeemer }], scripts: [script] }
        }
        return (await send(draft, client)).id
      },
      /** Takes from the script what the user has given it, or gives it something. */
      useScript: async (client?: Client) => {
        const utxo = locked.shift()
        if (utxo !== undefined)
          return (await send(() => ({ inputs: [{ utxo, redeemer }], scripts: [script] }), client)).id
        const given = { outputs: [{ address: scriptAddress, lovelace: 3_000_000n }] }
        const { id, produced } = await send(() => given, client)
        locked.push(...produced.slice(0, 1))
        return id
      },
    }
  })
  return { users, close: () => evaluator.close() }
}
