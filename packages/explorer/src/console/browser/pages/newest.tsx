import type { ExplorerBlock } from '@ratatosk/client'
import { accepted, rejected } from '../event-lists.js'
import { ada, grouped } from '../format.js'
import { Ago, Empty, Name, State } from '../parts.js'
import { link } from '../router.js'
import { blocks } from '../store.js'

/** The newest blocks, transactions and rejections. */
export function Newest() {
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
