import { toHex } from '@ratatosk/cbor'
import { type Client, RejectedError } from '@ratatosk/client'
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
const policy = Buffer.from(blake2b224(Buffer.concat([Uint8Array.of(3), script.bytes]))).toString('hex')

/** The test wallets of the devnet that the node does not use. They pay, mint and burn on layer 2. */
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

    async function send(draft: (funds: readonly Utxo[]) => TransactionDraft): Promise<string> {
      const funds = await outputsOf(connect(), keys.addressText)
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
      const { id: submissionId } = await connect().submit(toHex(built.bytes))
      const id = toHex(built.id)
      await connect().awaitTx(id, { submissionId, timeoutMs: 60_000 })
      return id
    }

    return {
      address: keys.addressText,
      /** Pays an address. Resolves with the id once it is accepted. */
      pay: (to: string, lovelace: bigint) => send(() => ({ outputs: [{ address: to, lovelace }] })),
      /** Mints tokens by a Plutus script, or burns one if the wallet has one. */
      mint: (quantity: bigint, burns: boolean) =>
        send((funds) => {
          const hasOne = funds.some(({ output }) => output.value.assets.has(policy))
          const assets = new Map([['00', burns && hasOne ? -1n : quantity]])
          const redeemer = Uint8Array.of(0x18, 42)
          return { mint: [{ policy, assets, redeemer }], scripts: [script] }
        }),
    }
  })
  return { users, close: () => evaluator.close() }
}

/** Whether a transaction was refused, as one that builds on what a roll-back took away may be. */
export const isRejected = (error: unknown): boolean => error instanceof RejectedError
