import type { ComponentChildren } from 'preact'
import { ada, grouped, size } from '../format.js'
import { Ago, Countdown, Empty, Name } from '../parts.js'
import { blocks, overview } from '../store.js'
import { Devnet } from './devnet.js'
import { Newest } from './newest.js'
import { Rates } from './rates.js'

/** Home: what the node does now, from the queue to the confirmed state. */
export function Live() {
  return (
    <>
      <River />
      <Devnet />
      <Newest />
      <Rates />
      <Clock />
    </>
  )
}

function River() {
  const { value } = overview
  if (value === undefined) return <Empty>Reading…</Empty>
  const { queue, mempool, blocks: totals } = value
  const sent = totals.built.transactions + totals.submitted.transactions
  const waiting = totals.committed.transactions + totals.mature.transactions
  const next = blocks.value?.findLast(({ state }) => state === 'committed' || state === 'mature')
  return (
    <section class="river" aria-label="From the queue to the confirmed state">
      {queue && (
        <Stage id="queue" title="Queue" count={queue.transactions}>
          {queue.oldestAt ? (
            <>
              oldest <Ago at={queue.oldestAt} />
            </>
          ) : (
            'nothing waits for validation'
          )}
        </Stage>
      )}
      <Stage id="mempool" title="Mempool" count={mempool.transactions} more={mempool.more}>
        {mempool.transactions === 0
          ? 'all accepted are in blocks'
          : `${size(mempool.bytes)} for the next block`}
      </Stage>
      <Stage id="open" title="On the way" count={sent}>
        {sent === 0
          ? 'all blocks are on layer 1'
          : `${blocksOf(totals.built.blocks + totals.submitted.blocks)} not on layer 1 yet`}
      </Stage>
      <Stage id="committed" title="State queue" count={waiting}>
        {blocksOf(totals.committed.blocks + totals.mature.blocks)}
        {next?.maturesAt && (
          <>
            , next in <Countdown to={next.maturesAt} />
          </>
        )}
      </Stage>
      <Stage id="merged" title="Confirmed" count={totals.merged.transactions}>
        {blocksOf(totals.merged.blocks)}
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
  readonly children: ComponentChildren
}

function Stage({ id, title, count, more = false, children }: StageProps) {
  return (
    <div class={count > 0 ? 'stage busy' : 'stage'} data-stage={id}>
      <h2>{title}</h2>
      <strong data-count={count}>
        {grouped(count)}
        {more && '+'}
      </strong>
      <small>{children}</small>
    </div>
  )
}

const blocksOf = (count: number) => `${grouped(count)} ${count === 1 ? 'block' : 'blocks'}`

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
