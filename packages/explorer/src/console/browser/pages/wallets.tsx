import { useSignal } from '@preact/signals'
import { CborReader, fromHex, Major } from '@ratatosk/cbor'
import type { Cip30Api } from '@ratatosk/client/wallet'
import { useEffect } from 'preact/hooks'
import { Choice, Outcome, Token, useAction } from '../controls.js'
import { ada } from '../format.js'
import { layer2 } from '../ledger.js'
import { operate } from '../operate.js'
import { Empty, Name, Table, useLayer1Polls } from '../parts.js'
import { go } from '../router.js'
import { serves } from '../routes.js'
import { firstFreeAccount, openWallet, pay } from '../send.js'
import { type ShownWallet, TestWallets } from '../test-wallets.js'

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
