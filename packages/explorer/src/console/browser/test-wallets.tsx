import type { ComponentChildren } from 'preact'
import { AnswerError, operate, read, token } from './api.js'
import { ada } from './format.js'
import { lovelaceOf } from './ledger.js'
import { Load, Name } from './parts.js'

/** A wallet of the devnet, whose keys are public. */
export interface ShownWallet {
  readonly account: number
  readonly address: string
  /** On layer 1. */
  readonly lovelace: string
  /** On layer 2; undefined if the node does not say it. */
  readonly layer2: string | undefined
}

type ByOperator = readonly Omit<ShownWallet, 'layer2'>[]

async function readWallets(path: string, by = operate<ByOperator>): Promise<readonly ShownWallet[]> {
  const wallets = await by(path)
  return Promise.all(wallets.map(async (each) => ({ ...each, layer2: await lovelaceOf(each.address) })))
}

interface Shown {
  readonly show: (wallets: readonly ShownWallet[]) => ComponentChildren
  readonly by?: (path: string) => Promise<readonly ShownWallet[]>
}

/** Reads the test wallets and what they have on both layers, at most every 5 s. */
export function TestWallets({ show, by = (path) => readWallets(path) }: Shown) {
  return <Load<readonly ShownWallet[]> path="devnet/wallets" by={by} isSlow show={show} />
}

/** The same for a page that asks for no token: none, as long as the node wants one. */
async function readIfOpen(path: string): Promise<readonly ShownWallet[]> {
  if (token.value !== '') return readWallets(path)
  try {
    return await readWallets(path, read<ByOperator>)
  } catch (error) {
    if (error instanceof AnswerError && error.status === 401) return []
    throw error
  }
}

/** The balance of each test wallet on layer 2. */
export function Balances() {
  return (
    <TestWallets
      by={readIfOpen}
      show={(wallets) =>
        wallets.length > 0 && (
          <section>
            <h2>Test wallets on layer 2</h2>
            <ul class="balances" id="balances">
              {wallets.map(({ account, address, layer2 }) => (
                <li key={account} data-account={account} data-layer2={layer2}>
                  <span class="dim">{account}</span> <Name name={address} page="address" />
                  <strong>{layer2 === undefined ? 'unknown' : `${ada(layer2)} ₳`}</strong>
                </li>
              ))}
            </ul>
          </section>
        )
      }
    />
  )
}
