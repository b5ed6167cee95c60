import type { ExplorerBlock } from '@ratatosk/client'
import type { ComponentChildren } from 'preact'
import { ada, counted, grouped, size } from '../format.js'
import { Ago, Countdown, Empty, Name } from '../parts.js'
import { link } from '../router.js'
import { hasPage } from '../routes.js'
import { blocks, overview } from '../store.js'
import { Balances } from '../test-wallets.js'
import { Newest } from './newest.js'
import { Rates } from './rates.js'
import { TryIt } from './try-it.js'

/** Home: what the node does now, from the queue to the confirmed state. */
export function Live() {
  return (
    <>
      <River />
      <TryIt />
      <Newest />
      <Rates />
      <Clock />
      {hasPage('wallets') && <Balances />}
    </>
  )
}

function River() {
  const { value } = overview
  if (value === undefined) return <Empty>Reading…</Empty>
  const { queue, mempool, blocks: totals } = value
  const sent = totals.built.transactions + totals.submitted.transactions
  const waiting = totals.committed.transactions + totals.mature.transactions
  const inQueue = blocks.value?.filter(({ state }) => state === 'committed' || state === 'mature') ?? []
  const next = inQueue.at(-1)
  return (
    <section class="river" aria-label="From the queue to the confirmed state">
      {queue && (
        <Stage
          id="queue"
          title="Queue"
          count={queue.transactions}
          marks={<Dots count={queue.transactions} />}
        >
          {queue.oldestAt ? (
            <>
              oldest <Ago at={queue.oldestAt} />
            </>
          ) : (
            'nothing waits for validation'
          )}
        </Stage>
      )}
      <Stage
        id="mempool"
        title="Mempool"
        count={mempool.transactions}
        more={mempool.more}
        marks={<Dots count={mempool.transactions} />}
      >
        {mempool.transactions === 0
          ? 'all accepted are in blocks'
          : `${size(mempool.bytes)} for the next block`}
      </Stage>
      <Stage
        id="open"
        title="On the way"
        count={sent}
        marks={
          <Carriages of={blocks.value?.filter(({ state }) => state === 'built' || state === 'submitted')} />
        }
      >
        {sent === 0
          ? 'all blocks are on layer 1'
          : `${counted(totals.built.blocks + totals.submitted.blocks, 'block')} not on layer 1 yet`}
      </Stage>
      <Stage id="committed" title="State queue" count={waiting} marks={<Carriages of={inQueue} />}>
        {counted(totals.committed.blocks + totals.mature.blocks, 'block')}
        {next?.maturesAt && (
          <>
            , next in <Countdown to={next.maturesAt} />
          </>
        )}
      </Stage>
      <Stage id="merged" title="Confirmed" count={totals.merged.transactions}>
        {counted(totals.merged.blocks, 'block')}
        {value.lastMergeAt && (
          <>
            , <Ago at={value.lastMergeAt} />
          </>
        )}
      </Stage>
    </section>
  )
}

interface StageProps {
  readonly id: string
  readonly title: string
  readonly count: number
  readonly more?: boolean
  /** One mark for each transaction or block. */
  readonly marks?: ComponentChildren
  readonly children: ComponentChildren
}

function Stage({ id, title, count, more = false, marks, children }: StageProps) {
  return (
    <div class={count > 0 ? 'stage busy' : 'stage'} data-stage={id}>
      <h2>{title}</h2>
      <strong data-count={count}>
        {grouped(count)}
        {more && '+'}
      </strong>
      <small>{children}</small>
      {marks}
    </div>
  )
}

/** Dots and boxes in one stage: more would not fit. */
const mostDots = 40
const mostBoxes = 8

function Dots({ count }: { readonly count: number }) {
  return (
    <span class="marks" data-marks={Math.min(count, mostDots)} aria-hidden="true">
      {Array.from({ length: Math.min(count, mostDots) }, (_, at) => (
        <i key={at} />
      ))}
      {count > mostDots && '…'}
    </span>
  )
}

/** A box for each block with its height, the oldest first. */
function Carriages({ of = [] }: { readonly of?: readonly ExplorerBlock[] | undefined }) {
  const oldest = of.slice(-mostBoxes).reverse()
  return (
    <span class="marks" data-marks={oldest.length}>
      {oldest.map(({ headerHash, height, state }) => (
        <a
          key={headerHash}
          class={`box ${state}`}
          aria-label={`Block ${height}`}
          href={link('block', String(height))}
        >
          {grouped(height)}
        </a>
      ))}
      {of.length > mostBoxes && '…'}
    </span>
  )
}

function Clock() {
  const { value } = overview
  if (value === undefined) return null
  const { layer1, wallet, sequencer } = value
  return (
    <section>
      <h2>Layer 1</h2>
      <dl class="facts">
        <dt>Tip</dt>
        <dd id="tip">
          {layer1 ? (
            <>
              block {grouped(layer1.height)}, slot {layer1.slot}, <Ago at={layer1.at} />
            </>
          ) : (
            'layer 1 does not respond'
          )}
        </dd>
        {value.lastCommitAt && (
          <>
            <dt>Last commit</dt>
            <dd>
              <Ago at={value.lastCommitAt} />
            </dd>
          </>
        )}
        <dt>Sequencer</dt>
        <dd>{sequencer ? <code>{sequencer.holder}</code> : 'none: no block is committed'}</dd>
        {wallet && (
          <>
            <dt>Pays for commitments</dt>
            <dd>
              <Name name={wallet.address} /> {ada(wallet.lovelace)} ₳
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}
