import type { OutputReference } from '@ratatosk/ledger'
import { collect } from '@ratatosk/test-kit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeBackends, type TestStore } from '../test/backends.js'
import { entry, idOf, outputOf, transaction, type Wallet, walletOf } from '../test/samples.js'
import type { AppliedTransaction, LedgerEntry, StoredOutput } from './ledger.js'

const runs = Number(process.env.STORE_PROPERTY_RUNS ?? 12)

const wallets: readonly Wallet[] = [
  walletOf('alice'),
  walletOf('bob'),
  // The same payment credential with a stake part, and no credential at all.
  { address: Uint8Array.of(0, ...walletOf('alice').address.slice(1), ...walletOf('stake').address.slice(1)) },
  { address: Uint8Array.of(0x82, 0xd8) },
]

/** `picks` choose among the unspent outputs, `paid` among the wallets. */
interface Plan {
  readonly picks: readonly number[]
  readonly paid: readonly number[]
  readonly flaw: 'none' | 'spends unknown' | 'spends spent' | 'repeats'
}

const plan: fc.Arbitrary<Plan> = fc.record({
  picks: fc.array(fc.nat(1000), { minLength: 1, maxLength: 3 }),
  paid: fc.array(fc.nat(wallets.length - 1), { maxLength: 3 }),
  flaw: fc.oneof(
    { arbitrary: fc.constant<'none'>('none'), weight: 30 },
    { arbitrary: fc.constantFrom<Plan['flaw']>('spends unknown', 'spends spent', 'repeats'), weight: 1 },
  ),
})

/** The expected content of the store, in plain data. */
class Model {
  readonly accepted: AppliedTransaction[] = []
  /** In the order of acceptance. */
  unspent: readonly LedgerEntry[]
  /** `unspent` before each transaction. */
  readonly before: (readonly LedgerEntry[])[] = []

  constructor(genesis: readonly LedgerEntry[]) {
    this.unspent = genesis
  }

  accept(made: AppliedTransaction): void {
    this.before.push(this.unspent)
    this.accepted.push(made)
    const spent = new Set(made.spent.map(key))
    this.unspent = [...this.unspent.filter(({ reference }) => !spent.has(key(reference))), ...made.produced]
  }

  history({ address }: Wallet): Uint8Array[] {
    const every = new Map(this.before[0]?.map((output) => [key(output.reference), output]))
    for (const output of this.accepted.flatMap(({ produced }) => produced))
      every.set(key(output.reference), output)
    return this.accepted
      .filter(({ spent, produced }) =>
        [...spent.map((reference) => every.get(key(reference))!), ...produced].some((output) =>
          same(output.address, address),
        ),
      )
      .map(({ cbor }) => cbor)
  }

  copy(): Model {
    const copy = new Model(this.unspent)
    copy.accepted.push(...this.accepted)
    copy.before.push(...this.before)
    return copy
  }
}

describeBackends('the mempool ledger', (backend) => {
  it('agrees with a model over random batches and can be undone to any point', {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(plan, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 6 }),
        async (plans) => {
          const test = await backend.create()
          try {
            await compare(test, plans)
          } finally {
            await test.drop()
          }
        },
      ),
      { numRuns: runs },
    )
  })
})

async function compare(test: TestStore, plans: readonly (readonly Plan[])[]): Promise<void> {
  const { store } = test
  const genesis = Array.from({ length: 6 }, (_, n) =>
    entry(outputOf('genesis', n), wallets[n % wallets.length]!),
  )
  await store.applyGenesis(genesis)
  let model = new Model(genesis)

  for (const [round, batch] of plans.entries()) {
    const next = model.copy()
    const transactions: AppliedTransaction[] = []
    let flawed = false
    for (const [position, { picks, paid, flaw }] of batch.entries()) {
      const chosen = new Set(picks.map((pick) => next.unspent[pick % next.unspent.length]?.reference))
      const spent = [...chosen].filter((reference) => reference !== undefined)
      if (spent.length === 0) continue
      const name = `round ${round}, transaction ${position}`
      const sound = transaction(
        name,
        spent,
        paid.map((n) => wallets[n]!),
      )
      let made = sound
      const used = next.accepted[0]
      if (flaw === 'spends unknown') made = { ...sound, spent: [...spent, outputOf('nowhere')] }
      else if (flaw === 'spends spent' && used) made = { ...sound, spent: [...spent, used.spent[0]!] }
      else if (flaw === 'repeats' && used) made = used
      if (made === sound) next.accept(made)
      else flawed = true
      transactions.push(made)
    }
    const applied = store.withLedger((ledger) => ledger.apply({ transactions }))
    if (flawed) await expect(applied).rejects.toMatchObject({ name: 'StoreError' })
    else {
      await applied
      model = next
    }
    await expectAgreement(test, model)
  }
  await expectUndone(test, model)
}

async function expectAgreement({ store }: TestStore, model: Model): Promise<void> {
  for (const wallet of wallets) {
    const here = model.unspent.filter(({ address }) => same(address, wallet.address))
    expect(await collect(store.utxoPages(wallet.address))).toEqual(here.map(toStored))
    expect(await collect(store.historyPages(wallet.address, { limit: 1000, offset: 0 }))).toEqual(
      model.history(wallet),
    )
  }
  const references = model.accepted.flatMap(({ spent, produced }) => [
    ...spent,
    ...produced.map(({ reference }) => reference),
  ])
  const unspent = new Map(model.unspent.map((output) => [key(output.reference), output.output]))
  await store.withLedger(async (ledger) => {
    expect(await ledger.outputs(references)).toEqual(
      references.map((reference) => unspent.get(key(reference))),
    )
    const ids = [...model.accepted.map(({ id }) => id), idOf('nowhere')]
    expect(await ledger.known(ids)).toEqual([...model.accepted.map(() => true), false])
  })
  const last = model.accepted.at(-1)
  if (last) expect(await store.transaction(last.id)).toEqual(last.cbor)
}

/** Undoes transactions one by one as the removal of a block does, from stored data alone. */
async function expectUndone({ store, database, schema }: TestStore, model: Model): Promise<void> {
  for (const [position, { id }] of [...model.accepted.entries()].reverse()) {
    await database.transaction(async (connection) => {
      await connection.query(`DELETE FROM ${schema}.mempool_ledger WHERE transaction_id = $1`, [id])
      await connection.query(
        `WITH undone AS (DELETE FROM ${schema}.mempool_transactions
          WHERE transaction_id = $1 RETURNING sequence),
          restored AS (DELETE FROM ${schema}.spent_outputs USING undone WHERE spent_by = undone.sequence
            RETURNING transaction_id, output_index, output, address, spent_outputs.sequence)
        INSERT INTO ${schema}.mempool_ledger
          (transaction_id, output_index, output, address, sequence) SELECT * FROM restored`,
        [id],
      )
    })
    for (const { address } of wallets) {
      const here = model.before[position]!.filter((output) => same(output.address, address))
      expect(await collect(store.utxoPages(address))).toEqual(here.map(toStored))
    }
  }
}

function toStored({ reference, output }: LedgerEntry): StoredOutput {
  return { reference, output }
}

function key({ transactionId, index }: OutputReference): string {
  return `${Buffer.from(transactionId).toString('hex')}#${index}`
}

function same(one: Uint8Array | undefined, other: Uint8Array): boolean {
  return one !== undefined && Buffer.compare(one, other) === 0
}
