import { useSignal } from '@preact/signals'
import type { ExplorerBlock, ExplorerRates } from '@ratatosk/client'
import type { ComponentChildren } from 'preact'
import { ada, duration, grouped, size } from '../format.js'
import { Ago, Countdown, Empty, Name, State } from '../parts.js'
import { go, link } from '../router.js'
import { sendFiveAda } from '../send.js'
import { blocks, happened, overview, rates } from '../store.js'

/** Home: what the node does now, from the queue to the confirmed state. */
export function Live() {
  return (
    <>
      <River />
      <Send />
      <div class="columns">
        <Blocks />
        <div>
          <Transactions />
          <Rejections />
        </div>
      </div>
      <Rates />
      <Clock />
    </>
  )
}

/** On a devnet: a payment to look at. */
function Send() {
  const sends = useSignal(false)
  const problem = useSignal('')
  if (overview.value?.network !== 'devnet' || overview.value.role !== 'all') return null
  const send = async () => {
    sends.value = true
    problem.value = ''
    try {
      go('tx', await sendFiveAda())
    } catch (error) {
      problem.value = messageOf(error)
    }
    sends.value = false
  }
  return (
    <p class="send">
      <button type="button" id="send" class="main" disabled={sends.value} onClick={send}>
        {sends.value ? 'Sending …' : 'Send 5 ada'}
      </button>
      <span class={problem.value === '' ? 'dim' : 'bad'} role="status">
        {problem.value ||
          'from one test wallet of the devnet to another, and follow it to the confirmed state'}
      </span>
    </p>
  )
}

/** Errors of CIP-30 have `info` in place of a message. */
function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'info' in error) return String(error.info)
  return error instanceof Error ? error.message : String(error)
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
  const accepted = happened.value.filter(({ kind }) => kind === 'accepted').slice(0, 6)
  return (
    <section>
      <h2>Newest transactions</h2>
      {accepted.length === 0 && <Empty>None since this page was opened.</Empty>}
      <ul class="list" id="accepted">
        {accepted.map(({ txHash = '', at }) => (
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
  const rejected = happened.value.filter(({ kind }) => kind === 'rejected').slice(0, 4)
  if (rejected.length === 0) return null
  return (
    <section>
      <h2>Newest rejections</h2>
      <ul class="list" id="rejected">
        {rejected.map(({ id = '', txHash, code, reason, at }) => (
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
        {grouped(sum)} accepted; the highest bar is {grouped(most)} a minute
      </figcaption>
    </figure>
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
