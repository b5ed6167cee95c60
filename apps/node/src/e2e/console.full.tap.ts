import t from 'tap'
import { noBrowser } from '../test/browser.js'
import { openConsoleNode } from '../test/console/console-node.js'
import {
  breakSomething,
  devnetPage,
  removal,
  restart,
  unknownBalances,
  walletsPage,
} from '../test/console/devnet-pages.js'
import {
  bridgePage,
  lateAnswer,
  ledgerPages,
  otherPages,
  rejectionStays,
  replayPage,
  servedPages,
} from '../test/console/ledger-pages.js'
import { sizes, story } from '../test/console/story.js'
import { checkPage, rejectedPage, watchPage } from '../test/console/submission-pages.js'

// One node and one browser: most of their time is the start.
t.test('the console in Chromium', { skip: noBrowser }, async (t) => {
  const console = await openConsoleNode(t)
  for (const [name, part] of [
    ['the pages are small, and their policy allows nothing foreign and nothing inline', sizes],
    ['a payment, from the mempool to the confirmed state', story],
    ['pages are there for what the node serves', servedPages],
    ['Rejected: by rule, with what to do; replay and drop', rejectedPage],
    ['Watch: verdicts as they change, what they cost, and a summons', watchPage],
    ['Check: every failed predicate, and budgets', checkPage],
    ['Address, asset, output and Prove it', ledgerPages],
    ['Bridge: a deposit, a withdrawal, and what is owed', bridgePage],
    ['the other pages, and a tour by keyboard alone', otherPages],
    ['Break something: the node repairs what layer 1 has undone', breakSomething],
    ['a removed block leaves the train, and its transaction moves on', removal],
    ['Wallets: both layers, top up, send, connect by CIP-30', walletsPage],
    ['Wallets: a balance that the node does not say is unknown', unknownBalances],
    ['Devnet: blocks, roll-backs, faults, and the end of the sequencer', devnetPage],
    ['Live: a late answer does not take a block away', lateAnswer],
    ['Live: acceptances take no rejection from the list', rejectionStays],
    ['Replay: the last hour from its events', replayPage],
    ['a restarted node: each event once', restart],
  ] as const)
    await t.test(name, (t) => part(t, console))
})
