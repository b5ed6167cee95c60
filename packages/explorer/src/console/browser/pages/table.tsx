import type { ComponentChildren } from 'preact'
import type { Route } from '../router.js'
import { bridge, hasPage } from '../routes.js'
import { Address } from './address.js'
import { Asset } from './asset.js'
import { Block } from './block.js'
import { Bridge } from './bridge.js'
import { Check } from './check.js'
import { Devnet } from './devnet.js'
import { Live } from './live.js'
import { Output } from './output.js'
import { Queue } from './queue.js'
import { Rejected } from './rejected.js'
import { Replay } from './replay.js'
import { Search } from './search.js'
import { Transaction } from './transaction.js'
import { Trust } from './trust.js'
import { Wallets } from './wallets.js'
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
