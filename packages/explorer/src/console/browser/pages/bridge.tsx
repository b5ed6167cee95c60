import { useSignal } from '@preact/signals'
import type { BridgeDeposit, Bridge as BridgeState, BridgeWithdrawal, ExplorerBlock } from '@ratatosk/client'
import type { ComponentChildren } from 'preact'
import { deposit, readDeposits, readWithdrawals, type Shown, withdraw } from '../bridge.js'
import { Choice, Outcome, Pages, Token, useAction } from '../controls.js'
import { ada, duration, grouped } from '../format.js'
import { Amounts } from '../ledger.js'
import { Ago, Countdown, Empty, Load, Name, State, Table, Time, useLayer1Polls } from '../parts.js'
import { bridge, link, serves } from '../router.js'
import { firstFreeAccount } from '../send.js'
import { blocks, now, readAgain } from '../store.js'
import { type ShownWallet, TestWallets } from '../test-wallets.js'

const [depositAda, withdrawalAda] = [10, 5]
/** Entries that are listed at a time. */
const pageSize = 10

/** Money on its way between the layers, and what layer 1 holds for it. */
export function Bridge() {
  useLayer1Polls()
  return (
    <>
      <section>
        <h2>Bridge</h2>
        <Load<BridgeState>
          path="bridge"
          isSlow
          show={(state) => <Terms state={state} />}
          otherwise={() => (
            <Empty>
              This deployment has no bridge: nothing comes from layer 1, and nothing leaves to it.
            </Empty>
          )}
        />
      </section>
      {bridge.value !== undefined && (
        <>
          <TryIt />
          <Moving />
        </>
      )}
    </>
  )
}

function Terms({ state }: { readonly state: BridgeState }) {
  const { address, treasury, creditedUntil, confirmedUntil, eventWaitMs, payoutFee } = state
  const { lovelace, assets, outputs, owed, backed } = treasury
  return (
    <>
      <p class="dim">
        A deposit locks ada at the bridge on layer 1, and a block credits them on layer 2. A withdrawal leaves
        layer 2; once its block is merged, a settlement owes it, and the treasury pays. For the devnet only:
        layer 1 does not judge deposits and withdrawals yet.
      </p>
      <dl class="facts">
        <dt>Treasury</dt>
        <dd id="treasury" data-lovelace={lovelace} data-owed={owed}>
          <Amounts amounts={[{ unit: 'lovelace', quantity: lovelace }, ...assets]} />
          <span class="dim">in {outputs === 1 ? '1 output' : `${grouped(outputs)} outputs`}</span>
        </dd>
        <dt>Settlements owe</dt>
        <dd>
          {owed === undefined ? 'not known yet' : owed === '0' ? 'nothing' : `${ada(owed)} ₳ `}
          {backed !== undefined && owed !== '0' && (
            <span class={backed ? 'state backed' : 'state short'}>{backed ? 'backed' : 'not backed'}</span>
          )}
        </dd>
        <dt>Credited until</dt>
        <dd>{creditedUntil === undefined ? 'no block yet' : <Time at={creditedUntil} />}</dd>
        <dt>Confirmed until</dt>
        <dd>{confirmedUntil === undefined ? 'no merged block yet' : <Time at={confirmedUntil} />}</dd>
        <dt>Wait of a deposit</dt>
        <dd>{duration(eventWaitMs)} after layer 1 could last take it</dd>
        <dt>Payout fee</dt>
        <dd>{ada(payoutFee)} ₳ of a withdrawal go to who pays it out</dd>
        <dt>Address</dt>
        <dd>
          <Name name={address} />
        </dd>
      </dl>
      <div class="stack">
        <h3>Settlements</h3>
        <Settlements settlements={state.settlements} />
      </div>
    </>
  )
}

function Settlements({ settlements }: Pick<BridgeState, 'settlements'>) {
  if (settlements.length === 0) return <Empty>None: every withdrawal of a merged block is paid.</Empty>
  return (
    <Table
      label="Settlements"
      id="settlements"
      heads={['Block', 'Owes', 'Withdrawals left', 'Output on layer 1']}
      rows={settlements.map(({ headerHash, outref, remaining, lovelace }) => ({
        key: outref,
        'data-settlement': outref,
        cells: [
          <BlockName key="block" headerHash={headerHash} />,
          lovelace === undefined ? 'not known yet' : `${ada(lovelace)} ₳`,
          remaining === undefined ? 'not known yet' : grouped(remaining),
          <Name key="output" name={outref} />,
        ],
      }))}
    />
  )
}

/** On a devnet: money in, and money out. */
function TryIt() {
  if (!serves('GET /devnet/outputs') || !serves('GET /dev-wallet.js')) return null
  return (
    <section class="stack">
      <h2>Try it</h2>
      <p class="dim">A test wallet of the devnet moves its own ada from one layer to the other.</p>
      <Token />
      <TestWallets show={(wallets) => <Move wallets={wallets} />} />
    </section>
  )
}

function Move({ wallets }: { readonly wallets: readonly ShownWallet[] }) {
  const said = useSignal<ComponentChildren>('')
  const { runs, problem, run } = useAction()
  const moves = {
    deposit: async ({ account, address }: ShownWallet) => {
      const { creditedFrom } = await deposit(account, address, BigInt(depositAda * 1e6))
      if (creditedFrom === undefined) return 'The deposit is on its way'
      return (
        <>
          The deposit is on its way; the block of <Time at={creditedFrom} /> credits it
        </>
      )
    },
    withdraw: async ({ account }: ShownWallet) => {
      const hash = await withdraw(account, BigInt(withdrawalAda * 1e6))
      return (
        <>
          The withdrawal is accepted: <Name name={hash} page="tx" />
        </>
      )
    },
  }
  return (
    <form
      class="row"
      id="move"
      onSubmit={(event) => {
        event.preventDefault()
        const account = Number(new FormData(event.currentTarget).get('wallet'))
        const wallet = wallets.find((each) => each.account === account)
        const isDeposit = event.submitter?.id === 'deposit'
        run(async () => {
          said.value = isDeposit ? 'Depositing …' : 'Withdrawing …'
          if (wallet) said.value = await moves[isDeposit ? 'deposit' : 'withdraw'](wallet)
          readAgain()
        })
      }}
    >
      <Choice
        label="Test wallet"
        name="wallet"
        values={wallets.map(({ account }) => String(account))}
        chosen={String(firstFreeAccount)}
      />
      <button type="submit" id="deposit" class="main" disabled={runs.value}>
        Deposit {depositAda} ada
      </button>
      <button type="submit" id="withdraw" class="main" disabled={runs.value}>
        Withdraw {withdrawalAda} ada
      </button>
      <Outcome problem={problem.value}>{said.value}</Outcome>
    </form>
  )
}

/** Deposits and withdrawals, the newest first. */
function Moving() {
  return (
    <>
      <section>
        <h2>Deposits</h2>
        <Load<readonly Shown<BridgeDeposit>[]>
          path="deposits"
          by={readDeposits}
          isSlow
          show={(deposits) => (
            <Newest
              id="deposits"
              label="Deposits"
              none="No deposit is at the bridge. Those that the treasury has used are not listed any more."
              heads={['On layer 2', 'Holds', 'For', 'State', 'Next', 'Block', 'Output on layer 1']}
              entries={deposits}
              row={depositRow}
            />
          )}
        />
      </section>
      <section>
        <h2>Withdrawals</h2>
        <Load<readonly Shown<BridgeWithdrawal>[]>
          path="withdrawals"
          by={readWithdrawals}
          isSlow
          show={(withdrawals) => (
            <Newest
              id="withdrawals"
              label="Withdrawals"
              none="Nothing has left layer 2."
              heads={['Left layer 2 by', 'Holds', 'For, on layer 1', 'State', 'Next', 'Block']}
              entries={withdrawals}
              row={withdrawalRow}
            />
          )}
        />
      </section>
    </>
  )
}

type Row = Parameters<typeof Table>[0]['rows'][number]

interface NewestProps<T> {
  readonly id: string
  readonly label: string
  /** The text of an empty list. */
  readonly none: string
  readonly heads: readonly string[]
  readonly entries: readonly T[]
  readonly row: (entry: T) => Row
}

/** The newest entries of a list, part by part. */
function Newest<T>({ id, label, none, heads, entries, row }: NewestProps<T>) {
  const offset = useSignal(0)
  if (entries.length === 0) return <Empty>{none}</Empty>
  // Entries may have left the list.
  const begin = offset.value < entries.length ? offset.value : 0
  return (
    <>
      <Table id={id} label={label} heads={heads} rows={entries.slice(begin, begin + pageSize).map(row)} />
      <Pages
        isFirst={begin === 0}
        isLast={begin + pageSize >= entries.length}
        move={(by) => {
          offset.value = begin + by * pageSize
        }}
      />
    </>
  )
}

function depositRow(entry: Shown<BridgeDeposit>): Row {
  const { id, outref, layer1Outref, amounts, address, state, time, headerHash } = entry
  const block = blockOf(headerHash)
  return {
    key: id,
    'data-deposit': id,
    'data-state': state,
    cells: [
      state === 'waiting' ? <Name name={outref} /> : <Name name={outref} page="output" />,
      <Amounts key="holds" amounts={amounts} />,
      <Name key="for" name={address} page="address" />,
      <State key="state" state={state} />,
      state === 'waiting' ? <Credited time={time} /> : <OfBlock state={state} block={block} />,
      headerHash === undefined ? '–' : <BlockName headerHash={headerHash} />,
      layer1Outref === undefined ? 'used' : <Name name={layer1Outref} />,
    ],
  }
}

function Credited({ time }: { readonly time: string | undefined }) {
  if (time === undefined) return <>–</>
  if (Date.parse(time) <= now.value) return <>the next block credits it</>
  return (
    <>
      credited in <Countdown to={time} />
    </>
  )
}

function withdrawalRow(entry: Shown<BridgeWithdrawal>): Row {
  const { outref, amounts, payTo, state, headerHash, payoutTxHash } = entry
  return {
    key: outref,
    'data-withdrawal': outref,
    'data-state': state,
    cells: [
      <Name key="tx" name={outref.slice(0, 64)} page="tx" />,
      <Amounts key="holds" amounts={amounts} />,
      payTo === undefined ? <span class="bad">nobody can pay it</span> : <Name name={payTo} page="address" />,
      <State key="state" state={state} />,
      payoutTxHash === undefined ? (
        <OfBlock state={state} block={blockOf(headerHash)} />
      ) : (
        <Name name={payoutTxHash} />
      ),
      headerHash === undefined ? '–' : <BlockName headerHash={headerHash} />,
    ],
  }
}

interface OfBlockProps {
  readonly state: BridgeDeposit['state'] | BridgeWithdrawal['state']
  readonly block: ExplorerBlock | undefined
}

/** The next step of something that is in a block, or waits for one. */
function OfBlock({ state, block }: OfBlockProps) {
  if (state === 'accepted' || state === 'credited') return <>its block goes to layer 1</>
  if (state === 'mature') return <>its block is merged next</>
  if (state === 'owed') return <>the treasury pays it</>
  if (state === 'committed' && block?.maturesAt !== undefined)
    return (
      <>
        mature in <Countdown to={block.maturesAt} />
      </>
    )
  if (state === 'merged' && block?.times.merged !== undefined)
    return (
      <>
        merged <Ago at={block.times.merged} />
      </>
    )
  return <>{state === 'paid' ? 'on layer 1' : '–'}</>
}

/** A block among the newest, which pages share. */
const blockOf = (headerHash: string | undefined): ExplorerBlock | undefined =>
  blocks.value?.find((block) => block.headerHash === headerHash)

function BlockName({ headerHash }: { readonly headerHash: string }) {
  const block = blockOf(headerHash)
  if (block === undefined) return <Name name={headerHash} page="block" />
  return <a href={link('block', headerHash)}>{grouped(block.height)}</a>
}
