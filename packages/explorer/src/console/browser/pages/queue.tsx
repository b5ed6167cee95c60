import type { ExplorerBlock } from '@ratatosk/client'
import { ada, counted, grouped } from '../format.js'
import { Ago, Countdown, Empty, Name, Scroll, State } from '../parts.js'
import { link } from '../router.js'
import { blocks, now, overview } from '../store.js'

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
