import type { ExplorerLineage, ExplorerTransaction } from '@ratatosk/client'
import type { ComponentChildren } from 'preact'
import { Paged } from '../controls.js'
import { grouped, jsonText, size } from '../format.js'
import { Amounts, layer2, type UnitAmount } from '../ledger.js'
import { Ago, Deposited, Empty, Load, Name, State, Text } from '../parts.js'
import { Prove } from '../prove.js'

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

interface Minted {
  readonly policy_id: string
  readonly asset_name: string | null
  readonly quantity: string
  readonly initial_mint_tx_hash: string
  readonly mint_or_burn_count: number
  readonly onchain_metadata: unknown
}

interface Holding {
  readonly address: string
  readonly quantity: string
}

/** An asset on layer 2: how much there is of it, and who holds it. */
export function Asset({ unit }: { readonly unit: string }) {
  const path = `${layer2}/assets/${encodeURIComponent(unit)}`
  return (
    <>
      <section>
        <h2>
          Asset <Name name={unit} />
        </h2>
        <Load<Minted>
          path={path}
          show={(minted) => (
            <>
              <dl class="facts">
                <dt>Name</dt>
                <dd id="name">{nameText(minted.asset_name ?? '')}</dd>
                <dt>Policy</dt>
                <dd>
                  <Name name={minted.policy_id} />
                </dd>
                <dt>Quantity</dt>
                <dd id="quantity">{grouped(minted.quantity)}</dd>
                <dt>Mints and burns</dt>
                <dd>{grouped(minted.mint_or_burn_count)}</dd>
                <dt>First minted by</dt>
                <dd>
                  <Name name={minted.initial_mint_tx_hash} page="tx" />
                </dd>
              </dl>
              {minted.onchain_metadata !== null && <Text>{jsonText(minted.onchain_metadata)}</Text>}
            </>
          )}
          otherwise={() => <Empty>No accepted transaction has minted this asset.</Empty>}
        />
      </section>
      <section>
        <h2>Holders</h2>
        <Paged<Holding>
          path={`${path}/addresses?order=asc`}
          pageSize={20}
          id="holders"
          end="Nobody holds more of it."
          show={({ address, quantity }) => (
            <li key={address} data-holder={address}>
              <Name name={address} page="address" />
              <span class="end">{grouped(quantity)}</span>
            </li>
          )}
        />
      </section>
    </>
  )
}

/** A name as text if it is text, and in hex. */
function nameText(hex: string): string {
  if (hex === '') return 'none: the policy alone names it'
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return /^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(text) ? `${text} (${hex})` : hex
  } catch {
    return hex
  }
}

const most = 20

/** An output: what it holds, and its lineage, one step in each direction. */
export function Output({ outref }: { readonly outref: string }) {
  return (
    <Load<ExplorerLineage>
      path={`explorer/output/${encodeURIComponent(outref)}`}
      show={(lineage) => <Details lineage={lineage} />}
    />
  )
}

function Details({ lineage: { output, madeBy } }: { readonly lineage: ExplorerLineage }) {
  const { outref, address, amount, datum, datumHash, referenceScript, spentBy } = output
  return (
    <>
      <section>
        <h2>
          Output <Name name={outref} />
        </h2>
        <dl class="facts">
          <dt>Holds</dt>
          <dd id="holds">
            <Amounts amounts={amount} />
          </dd>
          <dt>Address</dt>
          <dd>
            <Name name={address} page="address" />
          </dd>
          {datumHash && (
            <>
              <dt>Datum</dt>
              <dd>
                <Name name={datumHash} />
              </dd>
            </>
          )}
          {referenceScript && (
            <>
              <dt>Reference script</dt>
              <dd>
                {referenceScript.language} <Name name={referenceScript.hash} /> {size(referenceScript.bytes)}
              </dd>
            </>
          )}
          <dt>State</dt>
          <dd id="spent">
            {spentBy === undefined ? 'unspent' : spentBy.valid ? 'spent' : 'taken as collateral'}
          </dd>
        </dl>
        {datum !== undefined && <Text>{jsonText(datum)}</Text>}
        {spentBy === undefined && <Prove outref={outref} />}
      </section>
      <section>
        <h2>Lineage</h2>
        <div class="lineage">
          <div id="before">
            <h3>Before</h3>
            {madeBy === undefined ? (
              <Empty>It is in the genesis, or its maker is not known here.</Empty>
            ) : (
              <Step
                hash={madeBy}
                label="made by"
                side={({ inputs }) => inputs.map((input) => input.outref)}
                otherwise={(message) => <Deposited id={madeBy} otherwise={<Empty>{message}</Empty>} />}
              />
            )}
          </div>
          <div>
            <h3>This output</h3>
            <Name name={outref} />
          </div>
          <div id="after">
            <h3>After</h3>
            {spentBy === undefined ? (
              <Empty>Nothing has spent it.</Empty>
            ) : (
              <Step
                hash={spentBy.txHash}
                label="spent by"
                side={({ outputs }) => outputs.map((made) => made.outref)}
              />
            )}
          </div>
        </div>
      </section>
    </>
  )
}

interface StepProps {
  readonly hash: string
  readonly label: string
  /** The outputs on the far side of the transaction. */
  readonly side: (transaction: ExplorerTransaction) => readonly string[]
  /** In place of a transaction that is not here. */
  readonly otherwise?: (message: string) => ComponentChildren
}

function Step({ hash, label, side, otherwise = (message) => <Empty>{message}</Empty> }: StepProps) {
  return (
    <Load<ExplorerTransaction>
      path={`explorer/tx/${hash}`}
      show={(transaction) => {
        const outrefs = side(transaction)
        return (
          <ul>
            <li>
              {label} <Name name={hash} page="tx" />
            </li>
            {outrefs.slice(0, most).map((each) => (
              <li key={each}>
                <Name name={each} page="output" />
              </li>
            ))}
            {outrefs.length > most && <li class="dim">and {grouped(outrefs.length - most)} more</li>}
          </ul>
        )
      }}
      otherwise={otherwise}
    />
  )
}
