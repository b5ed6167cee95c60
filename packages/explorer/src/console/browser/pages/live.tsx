import { type Signal, useSignal } from '@preact/signals'
import type { ExplorerBlock, ExplorerRates } from '@ratatosk/client'
import type { ComponentChildren } from 'preact'
import { operate } from '../api.js'
import { Outcome, Token, useAction } from '../controls.js'
import { accepted, rejected } from '../events.js'
import { ada, counted, duration, grouped, size } from '../format.js'
import { Moves } from '../move-list.js'
import { Ago, Countdown, Empty, Name, State } from '../parts.js'
import { go, hasPage, link, serves } from '../router.js'
import { sendFiveAda } from '../send.js'
import { blocks, now, overview, rates } from '../store.js'
import { Balances } from '../test-wallets.js'

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

/** The newest blocks, transactions and rejections. */
function Newest() {
  return (
    <div class="columns">
      <Blocks />
      <div>
        <Transactions />
        <Rejections />
      </div>
    </div>
  )
}

function Blocks() {
  const list = blocks.value
  return (
    <section>
      <h2>Newest blocks</h2>
      {list?.length === 0 && (
        <Empty>No block yet. Submit a transaction: a block is built when it is accepted.</Empty>
      )}
      <ul class="list" id="blocks">
        {list?.slice(0, 10).map((block) => (
          <BlockLine key={block.headerHash} block={block} />
        ))}
      </ul>
    </section>
  )
}

function BlockLine({ block }: { readonly block: ExplorerBlock }) {
  return (
    <li data-height={block.height} data-state={block.state}>
      <a class="height" href={link('block', String(block.height))}>
        {grouped(block.height)}
      </a>
      <State state={block.state} />
      <span>{grouped(block.transactions)} tx</span>
      <span class="dim">{block.fees !== undefined && `${ada(block.fees)} ₳ fees`}</span>
      <span class="dim end">
        <Ago at={block.times.built} />
      </span>
    </li>
  )
}

function Transactions() {
  const list = accepted.shown.value
  return (
    <section>
      <h2>Newest transactions</h2>
      {list.length === 0 && <Empty>None since this page was opened; blocks have the earlier ones.</Empty>}
      <ul class="list" id="accepted">
        {list.map(({ txHash = '', at }) => (
          <li key={txHash}>
            <Name name={txHash} page="tx" />
            <span class="dim end">
              <Ago at={at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Rejections() {
  const list = rejected.shown.value
  if (list.length === 0) return null
  return (
    <section>
      <h2>Newest rejections</h2>
      <ul class="list" id="rejected">
        {list.map(({ id = '', txHash, code, reason, at }) => (
          <li key={id} title={reason}>
            {txHash === undefined ? <code>not a transaction</code> : <Name name={txHash} page="tx" />}
            <span class="bad">{code}</span>
            <span class="dim end">
              <Ago at={at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The rates of the node in the last hour. */
function Rates() {
  const { value } = rates
  if (value === undefined) return null
  return (
    <section>
      <h2>The last hour</h2>
      <div class="figures">
        <Delay title="Accepted → committed" delay={value.acceptedToCommitted} />
        <Delay title="Committed → merged" delay={value.committedToMerged} />
      </div>
      <Bars minutes={value.minutes} />
    </section>
  )
}

function Delay({
  title,
  delay,
}: {
  readonly title: string
  readonly delay: ExplorerRates['acceptedToCommitted']
}) {
  if (delay === undefined) return null
  return (
    <p>
      <span class="dim">{title}</span> {duration(delay.p50)} <span class="dim">median,</span>{' '}
      {duration(delay.p95)} <span class="dim">for 95 % of {grouped(delay.transactions)}</span>
    </p>
  )
}

/** Accepted transactions per minute. A minute that was not counted has no bar. */
function Bars({ minutes }: Pick<ExplorerRates, 'minutes'>) {
  const most = Math.max(1, ...minutes.map(({ accepted = 0 }) => accepted))
  const sum = minutes.reduce((total, { accepted = 0 }) => total + accepted, 0)
  const isWhole = minutes.every(({ accepted }) => accepted !== undefined)
  return (
    <figure>
      <svg
        viewBox="0 0 600 60"
        preserveAspectRatio="none"
        role="img"
        aria-label="Accepted transactions per minute"
      >
        {minutes.map(({ at, accepted }, position) =>
          accepted === undefined ? null : (
            <rect
              key={at}
              x={(position * 600) / minutes.length + 1}
              y={60 - Math.max(1, (58 * accepted) / most)}
              width={600 / minutes.length - 2}
              height={Math.max(1, (58 * accepted) / most)}
            >
              <title>{`${new Date(at).toLocaleTimeString()}: ${accepted} accepted`}</title>
            </rect>
          ),
        )}
      </svg>
      <figcaption class="dim">
        {sum === 0
          ? `none accepted${isWhole ? '' : ' in the minutes that are counted'}`
          : `${grouped(sum)} accepted; the highest bar is ${grouped(most)} a minute`}
      </figcaption>
    </figure>
  )
}

/** On a devnet: a payment to follow, and a roll-back of layer 1 to watch. */
function TryIt() {
  const since = useSignal<number | undefined>(undefined)
  return (
    <>
      <div class="columns actions">
        <Send />
        <Break since={since} />
      </div>
      <Token />
      {since.value !== undefined && (
        <section>
          <h2>What the node did</h2>
          <Moves since={since.value} />
        </section>
      )}
    </>
  )
}

function Send() {
  const { runs, problem, run } = useAction()
  if (!serves('GET /dev-wallet.js')) return null
  return (
    <p class="send">
      <button
        type="button"
        id="send"
        class="main"
        disabled={runs.value}
        onClick={() => run(async () => go('tx', await sendFiveAda()))}
      >
        {runs.value ? 'Sending …' : 'Send 5 ada'}
      </button>
      <Outcome problem={problem.value}>
        from one test wallet of the devnet to another, and follow it to the confirmed state
      </Outcome>
    </p>
  )
}

/** Rolls layer 1 back to before the newest commit, whose transaction is lost. */
function Break({ since }: { readonly since: Signal<number | undefined> }) {
  const { runs, problem, run } = useAction()
  if (!serves('POST /devnet/roll-back')) return null
  const rollBack = async () => {
    const isThere = (state: string) => state === 'committed' || state === 'mature'
    const newest = blocks.value?.find(({ state, commitTxHash }) => isThere(state) && commitTxHash)
    if (newest?.commitTxHash === undefined)
      throw new Error('No block is in the state queue: send 5 ada, and break it once its block is committed')
    const from = now.value - 1000
    await operate('devnet/roll-back', 'POST', { transaction: newest.commitTxHash })
    since.value = from
  }
  return (
    <p class="send">
      <button type="button" id="break" class="main" disabled={runs.value} onClick={() => run(rollBack)}>
        Break something
      </button>
      <Outcome problem={problem.value}>
        rolls layer 1 back to before the newest commit, and shows how the node repairs it
      </Outcome>
    </p>
  )
}
