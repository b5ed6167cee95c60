import { useSignal } from '@preact/signals'
import { CborReader, fromHex, Major } from '@ratatosk/cbor'
import type { Cip30Api } from '@ratatosk/client/wallet'
import { useEffect } from 'preact/hooks'
import { operate } from '../api.js'
import { Choice, Outcome, Token, useAction } from '../controls.js'
import { ada, counted, grouped } from '../format.js'
import { layer2 } from '../ledger.js'
import { Moves } from '../move-list.js'
import { Empty, Load, Name, Table, useLayer1Polls } from '../parts.js'
import { go, serves } from '../router.js'
import { firstFreeAccount, openWallet, pay } from '../send.js'
import { overview, readAgain } from '../store.js'
import { type ShownWallet, TestWallets } from '../test-wallets.js'

interface DevnetState {
  readonly tip: { readonly height: number; readonly slot: number }
  readonly currentSlot: number
  readonly mempool: number
  /** Absent where it cannot be stopped. */
  readonly sequencer?: SequencerState
}

type SequencerState = 'running' | 'stopped'

const kinds = ['time-out', 'refusal', 'rate-limit', 'failure', 'garbage', 'delay', 'lost-answer'] as const
const operations = ['any', 'submit', 'utxos', 'transaction', 'tip', 'parameters', 'evaluate'] as const

/** Controls of the devnet's layer 1, and the node's reactions. */
export function Devnet() {
  useLayer1Polls()
  const done = useSignal('')
  const { runs, problem, run } = useAction()
  const act = (what: string, path: string, method: string, body?: unknown) =>
    run(async () => {
      done.value = ''
      const { height } =
        (await operate<{ height?: number } | undefined>(`devnet/${path}`, method, body)) ?? {}
      done.value = height === undefined ? what : `${what}: the tip is block ${grouped(height)}`
      readAgain()
    })
  /** Calls with the fields of a form. */
  const onSubmit = (work: (field: (name: string) => string) => void) => (event: SubmitEvent) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget as HTMLFormElement)
    work((name) => String(fields.get(name) ?? ''))
  }
  const setSequencer = (sequencer: SequencerState) =>
    act(`The sequencer is ${sequencer}`, 'sequencer', 'POST', { sequencer })
  return (
    <>
      <section class="stack">
        <h2>Layer 1</h2>
        <Token />
        <Load<DevnetState>
          path="devnet"
          by={operate}
          isSlow
          show={({ tip, currentSlot, mempool, sequencer }) => (
            <>
              <p>
                Block <strong id="height">{grouped(tip.height)}</strong>, slot {grouped(currentSlot)},{' '}
                {counted(mempool, 'transaction')} in its mempool
              </p>
              {sequencer && <Sequencer state={sequencer} runs={runs.value} set={setSequencer} />}
            </>
          )}
        />
        <form
          class="row"
          id="make"
          onSubmit={onSubmit((field) =>
            act('Blocks are made', 'blocks', 'POST', { count: Number(field('count')) }),
          )}
        >
          <label>
            Blocks <input name="count" type="number" min={1} max={1000} defaultValue={1} required />
          </label>
          <button type="submit" disabled={runs.value}>
            Make blocks
          </button>
        </form>
        <form
          class="row"
          id="undo"
          onSubmit={onSubmit((field) =>
            act('Rolled back', 'roll-back', 'POST', {
              blocks: Number(field('blocks')),
              resubmit: field('resubmit') === 'on',
            }),
          )}
        >
          <label>
            Blocks <input name="blocks" type="number" min={1} max={2160} defaultValue={10} required />
          </label>
          <label>
            <input name="resubmit" type="checkbox" /> keep their transactions
          </label>
          <button type="submit" disabled={runs.value}>
            Roll back
          </button>
        </form>
        <form
          class="row"
          id="fault"
          onSubmit={onSubmit((field) =>
            act('The fault is injected', 'faults', 'POST', {
              kind: field('kind'),
              times: Number(field('times')),
              ...(field('operation') !== 'any' && { operation: field('operation') }),
            }),
          )}
        >
          <Choice label="Fault" name="kind" values={kinds} />
          <Choice label="of" name="operation" values={operations} />
          <label>
            Times <input name="times" type="number" min={1} max={1000} defaultValue={5} required />
          </label>
          <button type="submit" disabled={runs.value}>
            Inject
          </button>
          <button
            type="button"
            disabled={runs.value}
            onClick={() => act('All faults are removed', 'faults', 'DELETE')}
          >
            Remove all faults
          </button>
        </form>
        <p id="done">
          <Outcome problem={problem.value}>{done.value}</Outcome>
        </p>
      </section>
      <section>
        <h2>What the node did</h2>
        <Moves />
      </section>
    </>
  )
}

/** Stops or starts what commits and merges blocks, and shows what waits for it meanwhile. */
function Sequencer({
  state,
  runs,
  set,
}: {
  readonly state: SequencerState
  readonly runs: boolean
  readonly set: (state: SequencerState) => void
}) {
  const isStopped = state === 'stopped'
  const waiting = overview.value?.mempool
  return (
    <p class="row">
      <button type="button" id="stop" disabled={runs} onClick={() => set(isStopped ? 'running' : 'stopped')}>
        {isStopped ? 'Start the sequencer' : 'Stop the sequencer'}
      </button>
      <span id="sequencer">
        The sequencer is {state}
        {waiting && `; ${grouped(waiting.transactions)}${waiting.more ? '+' : ''} accepted transactions wait`}
      </span>
    </p>
  )
}

const topUpAda = 100

/** The devnet's test wallets on both layers, and any other wallet of this browser on layer 2. */
export function Wallets() {
  useLayer1Polls()
  return (
    <>
      <section class="stack">
        <h2>Test wallets</h2>
        <p class="dim">Their keys are public. The node itself pays from the first three.</p>
        <Token />
        <TestWallets show={(wallets) => <WalletTable wallets={wallets} />} />
      </section>
      {serves('GET /dev-wallet.js') && <Connect />}
    </>
  )
}

function WalletTable({ wallets }: { readonly wallets: readonly ShownWallet[] }) {
  const said = useSignal('')
  const accounts = wallets.map(({ account }) => String(account))
  const { runs, problem, run } = useAction()
  const topUp = (address: string) =>
    run(async () => {
      said.value = ''
      await operate('devnet/addresses/topup', 'POST', { address, adaAmount: topUpAda })
      said.value = `${topUpAda} ada are on their way on layer 1; the next block has them`
    })
  return (
    <>
      {serves('GET /dev-wallet.js') && <Pay accounts={accounts} run={run} isDisabled={runs.value} />}
      <p id="said">
        <Outcome problem={problem.value}>{said.value}</Outcome>
      </p>
      <Table
        label="Test wallets"
        id="wallets"
        heads={['Wallet', 'Address', 'Layer 1 ₳', 'Layer 2 ₳', 'Layer 1']}
        rows={wallets.map(({ account, address, lovelace, layer2: on2 }) => ({
          key: account,
          'data-account': account,
          'data-layer1': lovelace,
          'data-layer2': on2,
          cells: [
            account,
            <Name key="address" name={address} page="address" />,
            ada(lovelace),
            on2 === undefined ? 'unknown' : ada(on2),
            <button
              key="top-up"
              type="button"
              class="small"
              disabled={runs.value}
              aria-label={`Top up wallet ${account}`}
              onClick={() => topUp(address)}
            >
              Top up
            </button>,
          ],
        }))}
      />
    </>
  )
}

interface PayProps {
  readonly accounts: readonly string[]
  readonly run: (work: () => Promise<unknown>) => void
  readonly isDisabled: boolean
}

/** Sends ada on layer 2 from one test wallet to another. */
function Pay({ accounts, run, isDisabled }: PayProps) {
  return (
    <form
      class="row"
      id="pay"
      onSubmit={(event) => {
        event.preventDefault()
        const fields = new FormData(event.currentTarget)
        const amount = BigInt(Math.round(Number(fields.get('ada')) * 1e6))
        run(async () =>
          go('tx', await pay(await openWallet(Number(fields.get('from'))), Number(fields.get('to')), amount)),
        )
      }}
    >
      <label>
        Send <input name="ada" type="number" min={2} max={9000} step="any" defaultValue={5} required /> ada
      </label>
      <Choice label="from" name="from" values={accounts} chosen={String(firstFreeAccount)} />
      <Choice label="to" name="to" values={accounts} chosen={String(firstFreeAccount + 1)} />
      <button type="submit" class="main" disabled={isDisabled}>
        Send on layer 2
      </button>
    </form>
  )
}

interface Connected {
  readonly name: string
  readonly wallet: Cip30Api
  readonly address: string
  readonly lovelace: string
}

/** Connects a wallet of this browser by CIP-30, and points it at layer 2. */
function Connect() {
  const names = useSignal<readonly string[]>([])
  const connected = useSignal<Connected | undefined>(undefined)
  const { runs, problem, run } = useAction()
  useEffect(() => {
    // The devnet's own wallet is one more; extensions have added theirs already.
    openWallet(firstFreeAccount)
      .catch(() => undefined)
      .then(() => {
        names.value = Object.keys(window.cardano ?? {}).slice(0, 20)
      })
  }, [])
  const connect = (name: string) =>
    run(async () => {
      // A payment loads the devnet's wallet of another account under the same name.
      const enabled =
        name === 'ratatosk' ? await openWallet(firstFreeAccount) : await window.cardano?.[name]?.enable()
      if (enabled === undefined) throw new Error('The wallet is gone')
      const { layer2: onLayer2 } = await import('@ratatosk/client/wallet')
      const wallet = onLayer2(enabled, { url: new URL(layer2, document.baseURI).href })
      const [address, balance] = await Promise.all([wallet.getChangeAddress(), wallet.getBalance()])
      connected.value = { name, wallet, address, lovelace: lovelaceIn(balance) }
    })
  const send = (wallet: Cip30Api) =>
    run(async () => go('tx', await pay(wallet, firstFreeAccount + 1, 5_000_000n)))
  return (
    <section class="stack">
      <h2>Connect a wallet</h2>
      {names.value.length === 0 && (
        <Empty>No wallet is in this browser. Install an extension of CIP-30.</Empty>
      )}
      <p class="row" id="connect">
        {names.value.map((name) => (
          <button key={name} type="button" disabled={runs.value} onClick={() => connect(name)}>
            {name.slice(0, 40)}
          </button>
        ))}
        <Outcome problem={problem.value}>
          {connected.value === undefined && 'signs with its keys, and reads and submits on layer 2'}
        </Outcome>
      </p>
      {connected.value && (
        <p class="row" id="connected" data-lovelace={connected.value.lovelace}>
          {connected.value.name.slice(0, 40)} <Name name={connected.value.address} /> has{' '}
          {ada(connected.value.lovelace)} ₳ on layer 2
          <button
            type="button"
            disabled={runs.value}
            onClick={() => connected.value && send(connected.value.wallet)}
          >
            Send 5 ada to wallet {firstFreeAccount + 1}
          </button>
        </p>
      )}
    </section>
  )
}

/** Lovelace in the CBOR of a value: a number, or a list of it and other assets. */
function lovelaceIn(value: string): string {
  const reader = new CborReader(fromHex(value))
  if (reader.peekMajor() === Major.array) reader.readArray()
  return String(reader.readUint64())
}
