import type { ExplorerSearch } from '@ratatosk/client'
import type { ComponentChildren } from 'preact'
import { Empty, Load, Name } from '../parts.js'
import { bridge, go, hasPage, link, type Route } from '../router.js'
import { Block, Queue } from './block.js'
import { Bridge } from './bridge.js'
import { Check, Trust } from './check.js'
import { Devnet, Wallets } from './devnet.js'
import { Address, Asset, Output } from './ledger.js'
import { Live } from './live.js'
import { Rejected } from './rejected.js'
import { Replay } from './replay.js'
import { Transaction } from './transaction.js'
import { Watch } from './watch.js'

interface Page {
  readonly page: string
  readonly title: string
  readonly isListed?: boolean
  readonly show: (route: Route) => ComponentChildren
}

const all: readonly Page[] = [
  { page: '', title: 'Live', isListed: true, show: () => <Live /> },
  { page: 'queue', title: 'Queue', isListed: true, show: () => <Queue /> },
  {
    page: 'bridge',
    title: 'Bridge',
    get isListed() {
      return bridge.value !== undefined
    },
    show: () => <Bridge />,
  },
  { page: 'watch', title: 'Watch', isListed: true, show: () => <Watch /> },
  { page: 'rejected', title: 'Rejected', isListed: true, show: () => <Rejected /> },
  { page: 'check', title: 'Check', isListed: true, show: () => <Check /> },
  { page: 'wallets', title: 'Wallets', isListed: true, show: () => <Wallets /> },
  { page: 'devnet', title: 'Devnet', isListed: true, show: () => <Devnet /> },
  { page: 'replay', title: 'Replay', isListed: true, show: () => <Replay /> },
  { page: 'trust', title: 'Trust', isListed: true, show: () => <Trust /> },
  { page: 'block', title: 'Block', show: ({ subject }) => <Block key={subject} id={subject} /> },
  { page: 'tx', title: 'Transaction', show: ({ subject }) => <Transaction key={subject} hash={subject} /> },
  { page: 'address', title: 'Address', show: ({ subject }) => <Address key={subject} address={subject} /> },
  { page: 'asset', title: 'Asset', show: ({ subject }) => <Asset key={subject} unit={subject} /> },
  { page: 'output', title: 'Output', show: ({ subject }) => <Output key={subject} outref={subject} /> },
  { page: 'search', title: 'Search', show: ({ subject }) => <Search text={subject} /> },
]

/** The pages for which this node has what they show. */
export function pages(): readonly Page[] {
  return all.filter(({ page }) => hasPage(page))
}

/** Opens the page of what a text names. */
export function open(text: string): void {
  if (text.trim() !== '') go('search', text.trim())
}

function Search({ text }: { readonly text: string }) {
  return (
    <Load<ExplorerSearch>
      path={`explorer/search?q=${encodeURIComponent(text)}`}
      show={({ matches, couldBe }) => (
        <section>
          <h2>Search</h2>
          {matches.length === 0 && (
            <Empty>
              <code>{text}</code> is not here.{' '}
              {couldBe.length === 0 ? 'Nothing has such a name.' : `It could be: ${couldBe.join(', ')}.`}
            </Empty>
          )}
          <ul class="list">
            {matches.map(({ kind, id, path }) => (
              <li key={path}>
                {kind} <Name name={id} /> <a href={pageOf(kind, id) ?? path.slice(1)}>open</a>
              </li>
            ))}
          </ul>
        </section>
      )}
    />
  )
}

/** The pages of what a search finds. */
const pageNames: Readonly<Record<string, string>> = {
  transaction: 'tx',
  block: 'block',
  output: 'output',
  address: 'address',
  asset: 'asset',
}

function pageOf(kind: string, id: string): string | undefined {
  const page = pageNames[kind]
  return page !== undefined && hasPage(page) ? link(page, id) : undefined
}
