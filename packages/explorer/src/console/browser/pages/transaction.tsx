import { useSignal } from '@preact/signals'
import type { ExplorerInput, ExplorerOutput, ExplorerTransaction, TransactionStatus } from '@ratatosk/client'
import type { ComponentChildren } from 'preact'
import { ada, grouped, jsonText, size } from '../format.js'
import { Deposited, Empty, Journey, Load, Name, State, Text, Time } from '../parts.js'
import { Prove } from '../prove.js'
import { bridge, link } from '../router.js'

/** A transaction: its journey, what it spends and makes, and its bytes. */
export function Transaction({ hash }: { readonly hash: string }) {
  return (
    <Load<ExplorerTransaction>
      path={`explorer/tx/${encodeURIComponent(hash)}`}
      show={(transaction) => <Accepted transaction={transaction} />}
      otherwise={(message) => (
        <Load<TransactionStatus>
          path={`tx/status?tx_hash=${encodeURIComponent(hash)}`}
          show={(status) => <Unaccepted status={status} />}
          otherwise={() => <Empty>{message}</Empty>}
        />
      )}
    />
  )
}

/** Queued, validating, rejected, removed or unknown. */
function Unaccepted({
  status: { txHash, status, submittedAt, rejection, removal },
}: {
  readonly status: TransactionStatus
}) {
  return (
    <section>
      <h2>
        Transaction <Name name={txHash} /> <State state={status} />
      </h2>
      {status === 'unknown' && (
        <Deposited
          id={txHash}
          otherwise={
            <Empty>
              It is not here: not submitted to this node, forgotten since, or a name in the genesis.
            </Empty>
          }
        />
      )}
      {submittedAt && (
        <p>
          Submitted <Time at={submittedAt} />
        </p>
      )}
      {removal && (
        <p>
          Removed <Time at={removal.removedAt} />; the node submits it again.
        </p>
      )}
      {rejection && (
        <ul class="failures">
          {rejection.failures.map(({ predicate, message }) => (
            <li key={`${predicate} ${message}`}>
              <strong class="bad">{predicate}</strong> {message}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Accepted({ transaction }: { readonly transaction: ExplorerTransaction }) {
  const { hash, acceptedAt, block, position, bytes, fee, valid, mint, redeemers, scripts } = transaction
  return (
    <>
      <section>
        <h2>
          Transaction <Name name={hash} /> <State state={block?.state ?? 'mempool'} />
        </h2>
        <Journey acceptedAt={acceptedAt} {...(block && { block })} />
        <dl class="facts">
          <dt>Fee</dt>
          <dd id="fee">{ada(fee)} ₳</dd>
          <dt>Size</dt>
          <dd>{size(bytes)}</dd>
          {block && (
            <>
              <dt>Block</dt>
              <dd>
                <a class="inline" href={link('block', String(block.height))}>
                  {grouped(block.height)}
                </a>
                , position {position}
              </dd>
              {block.commitTxHash && (
                <>
                  <dt>On layer 1</dt>
                  <dd>
                    <Name name={block.commitTxHash} />
                  </dd>
                </>
              )}
            </>
          )}
          {!valid && (
            <>
              <dt>Scripts</dt>
              <dd class="bad">failed: it spent its collateral</dd>
            </>
          )}
          {mint.map(({ unit, quantity }) => (
            <>
              <dt>{quantity.startsWith('-') ? 'Burns' : 'Mints'}</dt>
              <dd>
                {grouped(quantity)} <Name name={unit} page="asset" />
              </dd>
            </>
          ))}
          {redeemers.map(({ purpose, index, memory, steps, used }) => (
            <>
              <dt>
                Script {purpose} {index}
              </dt>
              <dd data-redeemer={`${purpose} ${index}`}>
                {used && `used ${grouped(used.memory)} memory, ${grouped(used.steps)} steps; `}
                declared {grouped(memory)} memory, {grouped(steps)} steps
              </dd>
            </>
          ))}
          {scripts.map(({ hash: script, language, bytes: length }) => (
            <>
              <dt>{language}</dt>
              <dd>
                <Name name={script} /> {size(length)}
              </dd>
            </>
          ))}
        </dl>
        {block && <Prove txHash={hash} headerHash={block.headerHash} />}
      </section>
      <section>
        <h2>Inputs → outputs</h2>
        <div class="flow">
          <ul>
            {(valid ? transaction.inputs : transaction.collateralInputs).map((input) => (
              <Input key={input.outref} input={input} />
            ))}
          </ul>
          <span class="arrow" aria-hidden="true">
            →
          </span>
          <ul>
            {transaction.outputs.map((output) => (
              <Output key={output.outref} output={output}>
                {spender(output, transaction.spendersKnown)}
              </Output>
            ))}
          </ul>
        </div>
      </section>
      <Data title="Metadata" items={transaction.metadata.map(({ label, json }) => ({ name: label, json }))} />
      <Data title="Datums" items={transaction.datums.map(({ hash: name, json }) => ({ name, json }))} />
      <Bytes transaction={transaction} />
    </>
  )
}

function Input({ input: { outref, output, madeBy } }: { readonly input: ExplorerInput }) {
  if (output !== undefined) return <Output output={output}>{maker(madeBy)}</Output>
  return (
    <li>
      <Name name={outref} page="output" />
    </li>
  )
}

interface OutputProps {
  readonly output: ExplorerOutput
  /** Who made it, or who spent it. */
  readonly children: ComponentChildren
}

function Output({ output, children }: OutputProps) {
  const [lovelace, ...assets] = output.amount
  return (
    <li>
      <span>
        <strong>{ada(lovelace?.quantity ?? '0')} ₳</strong> <Name name={output.outref} page="output" />
      </span>
      {assets.map(({ unit, quantity }) => (
        <span key={unit}>
          {grouped(quantity)} <Name name={unit} page="asset" />
        </span>
      ))}
      <Name name={output.address} page="address" />
      {output.datumHash && (
        <span class="dim">
          datum <Name name={output.datumHash} />
        </span>
      )}
      <span class="dim">{children}</span>
    </li>
  )
}

function maker(madeBy: string | undefined) {
  if (madeBy === undefined) return 'of the genesis'
  return <a href={link('tx', madeBy)}>made by {madeBy.slice(0, 8)}…</a>
}

function spender({ spentBy, address }: ExplorerOutput, isKnown: boolean) {
  if (address === bridge.value?.address) return <a href={link('bridge')}>has left layer 2</a>
  if (spentBy === undefined) return isKnown ? 'unspent' : null
  return <a href={link('tx', spentBy.txHash)}>spent by {spentBy.txHash.slice(0, 8)}…</a>
}

interface DataItem {
  readonly name: string
  readonly json: unknown
}

function Data({ title, items }: { readonly title: string; readonly items: readonly DataItem[] }) {
  if (items.length === 0) return null
  return (
    <section>
      <h2>{title}</h2>
      {items.map((item) => (
        <Json key={item.name} {...item} />
      ))}
    </section>
  )
}

/** Becomes text once it is opened. */
function Json({ name, json }: DataItem) {
  const isOpen = useSignal(false)
  return (
    <details
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open
      }}
    >
      <summary>
        <code>{name}</code>
      </summary>
      {isOpen.value && <Text>{jsonText(json)}</Text>}
    </details>
  )
}

/** The CBOR, with the field marked that was chosen. */
function Bytes({ transaction: { cbor, fields } }: { readonly transaction: ExplorerTransaction }) {
  const chosen = useSignal(0)
  const field = fields[chosen.value]
  const [start, end] = field === undefined ? [0, 0] : [2 * field.offset, 2 * (field.offset + field.length)]
  return (
    <section>
      <h2>CBOR</h2>
      <p class="fields">
        {fields.map(({ name }, position) => (
          <button
            key={name}
            type="button"
            aria-pressed={position === chosen.value}
            onClick={() => {
              chosen.value = position
            }}
          >
            {name}
          </button>
        ))}
      </p>
      {field && (
        <p class="dim">
          {field.name}: {field.length} bytes from byte {field.offset}
        </p>
      )}
      <Text>
        {cbor.slice(0, start)}
        <mark>{cbor.slice(start, end)}</mark>
        {cbor.slice(end)}
      </Text>
    </section>
  )
}
