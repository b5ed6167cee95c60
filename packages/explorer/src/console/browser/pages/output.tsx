import type { ExplorerLineage, ExplorerTransaction } from '@ratatosk/client'
import type { ComponentChildren } from 'preact'
import { Deposited } from '../deposited.js'
import { grouped, jsonText, size } from '../format.js'
import { Amounts } from '../ledger.js'
import { Empty, Load, Name, Text } from '../parts.js'
import { Prove } from '../prove.js'

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
