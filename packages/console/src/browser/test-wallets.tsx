import type { ComponentChildren } from 'preact'
import { ada } from './format.js'
import { lovelaceOf } from './ledger.js'
import { operate } from './operate.js'
import { Load, Name } from './parts.js'

/** A wallet of the devnet, whose keys are public. */
export interface TestWallet {
  readonly account: number
  readonly address: string
  /** On layer 1. */
  readonly lovelace: string
  /** On layer 2; undefined if the node does not say it. */
  readonly layer2: string | undefined
}

async function readWallets(path: string): Promise<readonly TestWallet[]> {
  const wallets = await operate<readonly Omit<TestWallet, 'layer2'>[]>(path)
  return Promise.all(wallets.map(async (each) => ({ ...each, layer2: await lovelaceOf(each.address) })))
}

/** Reads the test wallets and what they have on both layers, at most every 5 s. */
export function TestWallets({
  show,
}: {
  readonly show: (wallets: readonly TestWallet[]) => ComponentChildren
}) {
  return <Load<readonly TestWallet[]> path="devnet/wallets" by={readWallets} isSlow show={show} />
}

/** What each test wallet has on layer 2. */
export function Balances() {
  return (
    <section>
      <h2>Test wallets on layer 2</h2>
      <TestWallets
        show={(wallets) => (
          <ul class="balances" id="balances">
            {wallets.map(({ account, address, layer2 }) => (
              <li key={account} data-account={account} data-layer2={layer2}>
                <span class="dim">{account}</span> <Name name={address} page="address" />
                <strong>{layer2 === undefined ? 'unknown' : `${ada(layer2)} ₳`}</strong>
              </li>
            ))}
          </ul>
        )}
      />
    </section>
  )
}
