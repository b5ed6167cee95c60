import {
  createLedgerStateQueryClient,
  createTransactionSubmissionClient,
  type InteractionContext,
  type JSONRPCError,
  type Schema,
} from '@cardano-ogmios/client'
import { toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import type { Test } from 'tap'
import { draft, unitDatum } from './draft.js'
import {
  alice,
  failing,
  failingHash,
  first,
  lock,
  second,
  succeeding,
  succeedingHash,
  unlock,
} from './scenes.js'
import type { ServedLedger } from './served-ledger.js'

/** Tests by name, each with a ledger and connections to its Ogmios. */
export type OgmiosScenes = Readonly<Record<string, (scene: Scene) => Promise<void>>>

interface Scene {
  readonly t: Test
  readonly ledger: ServedLedger
  connect(): Promise<InteractionContext>
}

export async function errorOf(work: Promise<unknown>): Promise<JSONRPCError> {
  return work.then(
    () => {
      throw new Error('expected an error')
    },
    (reason: JSONRPCError) => reason,
  )
}

/** The client's view of transactions with scripts. */
export const scriptScenes: OgmiosScenes = {
  async 'Plutus scripts are evaluated, succeed and fail'({ t, connect, ledger }) {
    const client = await createTransactionSubmissionClient(await connect())
    const unlocking = unlock(await lock(ledger, succeedingHash), succeeding)
    t.same(await client.evaluateTransaction(toHex(unlocking.cbor)), [
      { validator: { purpose: 'spend', index: 0 }, budget: { memory: 500, cpu: 64_100 } },
    ])
    t.equal(await client.submitTransaction(toHex(unlocking.cbor)), unlocking.hash)
    await ledger.reset()

    const rejectedCbor = toHex(unlock(await lock(ledger, failingHash), failing).cbor)
    t.match(await errorOf(client.evaluateTransaction(rejectedCbor)), {
      code: 3010,
      data: [{ validator: { purpose: 'spend', index: 0 }, error: { code: 3012, data: { traces: [] } } }],
    })
    t.match(await errorOf(client.submitTransaction(rejectedCbor)), {
      code: 3136,
      data: { declaredSpending: 'inputs', mismatchReason: /FailedUnexpectedly: spend:0/ },
    })
    const unknown = toHex(unlock(`${'22'.repeat(32)}#0`, succeeding).cbor)
    t.match(await errorOf(client.evaluateTransaction(unknown)), {
      code: 3010,
      data: [{ error: { code: 3117 } }],
    })
    await client.shutdown()
  },

  async 'missing Plutus witnesses have the error codes of Ogmios'({ t, connect, ledger }) {
    const client = await createTransactionSubmissionClient(await connect())
    const locked = await lock(ledger, succeedingHash)
    const base = {
      inputs: [locked],
      outputs: [{ address: alice.addressBytes, lovelace: 19_700_000n }],
      fee: 300_000n,
      signers: [alice],
    }
    const redeemers = [{ tag: 0, index: 0, memory: 10_000n, steps: 10_000_000n }]
    const rejected: Readonly<Record<number, Parameters<typeof draft>[0]>> = {
      3102: base,
      3109: { ...base, scripts: [succeeding] },
      3110: {
        ...base,
        scripts: [succeeding],
        collateral: [second],
        redeemers: [...redeemers, { ...redeemers[0]!, tag: 1 }],
      },
      3129: { ...base, scripts: [succeeding], collateral: [locked], redeemers },
      3130: {
        ...base,
        scripts: [succeeding],
        collateral: [second],
        redeemers,
        invalidHereafter: ledger.currentSlot() + 200_000n,
      },
      3132: { ...base, scripts: [succeeding], redeemers },
      3134: {
        ...base,
        scripts: [succeeding],
        collateral: [second],
        redeemers: [{ ...redeemers[0]!, memory: 10n ** 9n }],
      },
    }
    for (const [code, transaction] of Object.entries(rejected)) {
      const error = await errorOf(client.submitTransaction(toHex(draft(transaction).cbor)))
      t.equal(error.code, Number(code), `${code}: ${error.message}`)
    }
    await client.shutdown()
  },

  async 'evaluation with an output that only the client knows'({ t, connect, ledger }) {
    const client = await createTransactionSubmissionClient(await connect())
    const known = await lock(ledger, succeedingHash)
    const queried = await createLedgerStateQueryClient(await connect())
    const outputReferences = [{ transaction: { id: known.slice(0, 64) }, index: 0 }]
    const [locked] = await queried.utxo({ outputReferences })
    const elsewhere: Schema.Utxo = [
      { ...(locked as Schema.Utxo[number]), transaction: { id: '22'.repeat(32) } },
    ]
    const unlocking = unlock(`${'22'.repeat(32)}#0`, succeeding)
    t.match(await client.evaluateTransaction(toHex(unlocking.cbor), elsewhere), [{ budget: { memory: 500 } }])
    const richer = [
      { ...elsewhere[0], ...outputReferences[0], value: { ada: { lovelace: 5n } } },
    ] as Schema.Utxo
    t.match(await errorOf(client.evaluateTransaction(toHex(unlocking.cbor), richer)), { code: 3002 })
    await client.shutdown()
    await queried.shutdown()
  },

  async 'evaluation with an output of the chain that the client encodes otherwise'({ t, connect, ledger }) {
    const locking = draft({
      inputs: [first],
      outputs: [
        {
          address: Uint8Array.from([0x70, ...succeedingHash]),
          lovelace: 20_000_000n,
          datumHash: blake2b256(unitDatum),
        },
        { address: alice.addressBytes, lovelace: 79_800_000n },
      ],
      fee: 200_000n,
      signers: [alice],
    })
    await ledger.submit(locking.cbor)
    await ledger.produceBlock()
    const queried = await createLedgerStateQueryClient(await connect())
    const known = await queried.utxo({
      outputReferences: [{ transaction: { id: locking.hash }, index: 0 }],
    })
    t.match(known, [{ datumHash: toHex(blake2b256(unitDatum)) }])
    const client = await createTransactionSubmissionClient(await connect())
    const unlocking = unlock(`${locking.hash}#0`, succeeding)
    t.match(await client.evaluateTransaction(toHex(unlocking.cbor), known), [{ budget: { memory: 500 } }])
    await client.shutdown()
    await queried.shutdown()
  },
}
