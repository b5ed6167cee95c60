import type { ExplorerTransaction } from '@ratatosk/client'
import { Deposited } from '../deposited.js'
import { Amounts, layer2, type UnitAmount } from '../ledger.js'
import { Paged } from '../paged.js'
import { Ago, Empty, Load, Name, State } from '../parts.js'

interface Holder {
  readonly amount: readonly UnitAmount[]
  readonly stake_address: string | null
  readonly script: boolean
}

interface Touched {
  readonly tx_hash: string
}

/** An address on layer 2: its balance, and what each transaction has changed. */
export function Address({ address }: { readonly address: string }) {
  const path = `${layer2}/addresses/${encodeURIComponent(address)}`
  return (
    <>
      <section>
        <h2>
          Address <Name name={address} />
        </h2>
        <Load<Holder>
          path={path}
          isSlow
          show={({ amount, stake_address: stake, script }) => (
            <dl class="facts">
              <dt>Holds</dt>
              <dd id="balance">
                <Amounts amounts={amount} />
              </dd>
              <dt>Owner</dt>
              <dd>{script ? 'a script' : 'a key'}</dd>
              {stake && (
                <>
                  <dt>Stake address</dt>
                  <dd>
                    <Name name={stake} />
                  </dd>
                </>
              )}
            </dl>
          )}
          otherwise={() => <Empty>No accepted transaction pays to this address yet.</Empty>}
        />
      </section>
      <section>
        <h2>History</h2>
        <Paged<Touched>
          path={`${path}/transactions?order=desc`}
          pageSize={10}
          isSlow
          id="history"
          end="No further transaction."
          show={({ tx_hash: hash }) => (
            <li key={hash} data-tx={hash}>
              <Name name={hash} page="tx" />
              <Load<ExplorerTransaction>
                path={`explorer/tx/${hash}`}
                isSlow
                isFinal={({ block }) => block?.state === 'merged'}
                show={(transaction) => <Change address={address} transaction={transaction} />}
                otherwise={(message) => <Deposited id={hash} otherwise={<Empty>{message}</Empty>} />}
              />
            </li>
          )}
        />
      </section>
    </>
  )
}

interface ChangeProps {
  readonly address: string
  readonly transaction: ExplorerTransaction
}

function Change({ address, transaction }: ChangeProps) {
  const { acceptedAt, block } = transaction
  const change = changeOf(address, transaction)
  return (
    <>
      <State state={block?.state ?? 'mempool'} />
      {change && <Amounts amounts={change} isChange />}
      <span class="dim end">
        <Ago at={acceptedAt} />
      </span>
    </>
  )
}

/** The amount that a transaction adds to an address; undefined if the node has not resolved every input. */
function changeOf(
  address: string,
  { valid, inputs, collateralInputs, outputs }: ExplorerTransaction,
): readonly UnitAmount[] | undefined {
  const spent = valid ? inputs : collateralInputs
  if (spent.some(({ output }) => output === undefined)) return undefined
  const sums = new Map<string, bigint>()
  const add = (side: readonly ExplorerTransaction['outputs'][number][], sign: bigint) => {
    for (const output of side)
      if (output.address === address)
        for (const { unit, quantity } of output.amount)
          sums.set(unit, (sums.get(unit) ?? 0n) + sign * BigInt(quantity))
  }
  add(outputs, 1n)
  add(
    spent.flatMap(({ output }) => output ?? []),
    -1n,
  )
  return [...sums]
    .filter(([, quantity]) => quantity !== 0n)
    .map(([unit, quantity]) => ({ unit, quantity: String(quantity) }))
}
