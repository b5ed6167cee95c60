import { useSignal } from '@preact/signals'
import type { ExplorerBlock, ExplorerBlockDetails } from '@ratatosk/client'
import { Pages } from '../controls.js'
import { ada, counted, grouped, size } from '../format.js'
import { Ago, Countdown, Empty, Journey, Load, Name, Scroll, State, Table, Time } from '../parts.js'
import { go, link, serves } from '../router.js'
import { blocks, now, overview } from '../store.js'
import { treemap } from '../treemap.js'

const pageSize = 50

/** A block: its times, its header and its transactions. */
export function Block({ id }: { readonly id: string }) {
  const offset = useSignal(0)
  const path = `explorer/block/${encodeURIComponent(id)}?limit=${pageSize}&offset=${offset.value}`
  return (
    <Load<ExplorerBlockDetails>
      path={path}
      show={(details) => (
        <Details
          details={details}
          move={(to) => {
            offset.value = to
          }}
        />
      )}
    />
  )
}

interface DetailsProps {
  readonly details: ExplorerBlockDetails
  readonly move: (offset: number) => void
}

function Details({ details: { block, header, transactions, offset }, move }: DetailsProps) {
  const { height, headerHash, state, bytes, fees, commitTxHash, commitFee, mergeTxHash } = block
  return (
    <>
      <section>
        <h2>
          Block {grouped(height)} <State state={state} />
        </h2>
        <Journey block={block} />
        <dl class="facts">
          <dt>Header hash</dt>
          <dd>
            <Name name={headerHash} />
          </dd>
          <dt>Transactions</dt>
          <dd id="transactions">{grouped(block.transactions)}</dd>
          {bytes !== undefined && (
            <>
              <dt>Size</dt>
              <dd id="bytes">{size(bytes)}</dd>
            </>
          )}
          {fees !== undefined && (
            <>
              <dt>Fees</dt>
              <dd id="fees">{ada(fees)} ₳</dd>
            </>
          )}
          <dt>Time</dt>
          <dd>
            <Time at={header.startTime} /> to <Time at={header.endTime} />
          </dd>
          <dt>Root before</dt>
          <dd>
            <Name name={header.utxosRootBefore} />
          </dd>
          <dt>Root after</dt>
          <dd id="root">
            <Name name={header.utxosRootAfter} />
          </dd>
          <dt>Transactions root</dt>
          <dd>
            <Name name={header.transactionsRoot} />
          </dd>
          <dt>Previous block</dt>
          <dd>
            {height === 1 ? (
              'none'
            ) : (
              <a class="inline" href={link('block', String(height - 1))}>
                {grouped(height - 1)}
              </a>
            )}
          </dd>
          <dt>Operator</dt>
          <dd>
            <Name name={header.operator} />
          </dd>
          <dt>Committed by</dt>
          <dd>
            {commitTxHash === undefined ? 'another operator' : <Name name={commitTxHash} />}
            {commitFee && <> {ada(commitFee)} ₳</>}
          </dd>
          {mergeTxHash && (
            <>
              <dt>Merged by</dt>
              <dd>
                <Name name={mergeTxHash} />
              </dd>
            </>
          )}
          {serves('GET /archivist/block/:id') && (
            <>
              <dt>Raw</dt>
              <dd>
                <a class="inline" href={`archivist/block/${headerHash}`}>
                  header and body
                </a>
              </dd>
            </>
          )}
        </dl>
      </section>
      <section>
        <h2>Transactions</h2>
        <BlockMap transactions={transactions} offset={offset} />
        <Table
          label="Transactions"
          heads={['#', 'Hash', 'Size', 'Fee ₳', 'In', 'Out', 'Scripts']}
          rows={transactions.map(({ hash, valid, bytes, fee, inputs, outputs, redeemers }, position) => ({
            key: hash,
            cells: [
              offset + position,
              <>
                <Name name={hash} page="tx" />
                {!valid && <span class="bad"> failed</span>}
              </>,
              size(bytes),
              ada(fee),
              inputs,
              outputs,
              redeemers,
            ],
          }))}
        />
        <Pages
          isFirst={offset === 0}
          isLast={offset + pageSize >= block.transactions}
          move={(by) => move(Math.max(0, offset + by * pageSize))}
        />
      </section>
    </>
  )
}

const box = { x: 0, y: 0, width: 1000, height: 200 }

/**
 * The transactions of a part of a block, with areas as their bytes. The table of the same part is for those
 * who use a keyboard or cannot see it.
 */
function BlockMap({ transactions, offset }: Pick<ExplorerBlockDetails, 'transactions' | 'offset'>) {
  if (transactions.length < 2) return null
  const areas = treemap(
    transactions.map(({ bytes }) => bytes),
    box,
  )
  const sum = transactions.reduce((total, { bytes }) => total + bytes, 0)
  return (
    <figure>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table has a link for each, which keys reach */}
      <svg
        id="map"
        class="map"
        viewBox="0 0 1000 200"
        preserveAspectRatio="none"
        role="img"
        aria-label="Bytes of each transaction"
        onClick={({ target }) => {
          const hash = target instanceof SVGElement ? target.dataset.hash : undefined
          if (hash !== undefined) go('tx', hash)
        }}
      >
        {transactions.map(({ hash, bytes, redeemers, valid }, place) => (
          <rect
            key={hash}
            class={valid ? (redeemers > 0 ? 'scripts' : '') : 'failed'}
            data-hash={hash}
            data-bytes={bytes}
            {...areas[place]}
          >
            <title>{`${grouped(offset + place)}: ${hash}, ${size(bytes)}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption>
        Transactions {grouped(offset)} to {grouped(offset + transactions.length - 1)} by their bytes,{' '}
        {size(sum)} together
        {transactions.some(({ redeemers }) => redeemers > 0) && '; green ones run scripts'}
      </figcaption>
    </figure>
  )
}

/** The state queue as a train: the confirmed state pulls the blocks that wait. */
export function Queue() {
  const list = blocks.value
  if (list === undefined) return <Empty>Reading…</Empty>
  const waiting = list.filter(({ state }) => state !== 'merged').reverse()
  const confirmed = overview.value?.blocks.merged
  return (
    <section>
      <h2>State queue</h2>
      <p class="dim">
        Each committed block waits until its maturity window is over. Then it is merged into the confirmed
        state, and the next one follows.
      </p>
      <Scroll label="The confirmed state and the blocks that wait">
        <ol class="train">
          <li class="engine">
            <strong>Confirmed state</strong>
            {confirmed && (
              <>
                <span>{counted(confirmed.blocks, 'block')}</span>
                <span class="dim">{counted(confirmed.transactions, 'transaction')}</span>
              </>
            )}
          </li>
          {waiting.map((block) => (
            <Carriage key={block.headerHash} block={block} />
          ))}
        </ol>
      </Scroll>
      {waiting.length === 0 && <Empty>No block waits. The next accepted transaction makes one.</Empty>}
    </section>
  )
}

function Carriage({ block }: { readonly block: ExplorerBlock }) {
  const { height, state, transactions, maturesAt, commitTxHash, commitFee, times } = block
  return (
    <li class={`carriage ${state}`} data-height={height} data-state={state}>
      <a href={link('block', String(height))}>Block {grouped(height)}</a>
      <State state={state} />
      <span>{counted(transactions, 'transaction')}</span>
      {maturesAt && times.committed && (
        <>
          <span>
            may merge in <Countdown to={maturesAt} />
          </span>
          <progress
            max="1"
            value={share(times.committed, maturesAt)}
            aria-label="Part of the wait that is over"
          />
        </>
      )}
      <span class="dim">
        built <Ago at={times.built} />
      </span>
      <span class="dim">
        layer 1 {commitTxHash === undefined ? 'by another operator' : <Name name={commitTxHash} />}
        {commitFee && <> {ada(commitFee)} ₳</>}
      </span>
    </li>
  )
}

/** The part of the time from the commit until the block matures that is over. */
function share(committedAt: string, maturesAt: string): number {
  const [begin, end] = [Date.parse(committedAt), Date.parse(maturesAt)]
  return Math.min(1, Math.max(0, (now.value - begin) / Math.max(1, end - begin)))
}
