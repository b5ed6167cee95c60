import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { encodeOutputReference } from '@ratatosk/ledger'
import { keysFromSeedPhrase, toOutput } from '@ratatosk/ledger/builder'
import { onTestFinished } from 'vitest'

const parameters = JSON.parse(
  readFileSync(new URL('../../../../packages/devnet/parameters/devnet-11.json', import.meta.url), 'utf8'),
)

export interface Lie {
  readonly fees?: object
  /** How many outputs of 2 ada the wallet has, by their names. */
  readonly outputs: readonly number[]
  /** The status and body of each answer to `POST /submit`. */
  readonly submitted?: readonly [number, object]
  readonly submission?: (count: number) => object
  /** The status and body of other paths; no answer to a path without. */
  readonly others?: Readonly<Record<string, readonly [number, object] | undefined>>
}

/** A node that answers what it likes. @returns its URL, and how many transactions it was given */
export async function lyingNode({ fees, outputs, submitted = taken, submission = acceptance, others }: Lie) {
  const { address } = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 5 })
  const value = { lovelace: 2_000_000n, assets: new Map() }
  const output = toHex(toOutput({ address: address.bytes, value, datum: { kind: 'none' } }).bytes)
  const utxos = outputs.map((name) => {
    const reference = { transactionId: new Uint8Array(32).fill(name), index: 0 }
    return { outref: toHex(encodeOutputReference(reference)), value: output }
  })
  const given = { url: '', count: 0 }
  const server = createServer(({ url = '', method }, response) => {
    const path = url.split('?')[0] ?? ''
    if (method === 'POST') given.count++
    const answers: Lie['others'] = {
      '/network': [200, networkWith(fees)],
      '/utxos': [200, { utxos }],
      '/submit': submitted,
      '/submission': [200, submission(given.count)],
      ...others,
    }
    const answer = Object.hasOwn(answers, path) ? answers[path] : notServed
    if (answer === undefined) return void response.destroy()
    const [status, body] = answer
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  given.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return given
}

const notServed = [404, { error: 'not served', code: 'NOT_SERVED' }] as const
const taken = [200, { message: 'Successfully added the transaction to the queue', id: 'x' }] as const
export const acceptance = () => ({ id: 'x', status: 'mempool' })
const api = { accepted: 'x', committed: 'x', merged: 'x' }

const networkWith = (fees: object | undefined) => ({
  network: 'devnet',
  versions: { node: '0', protocol: 1 },
  networkId: 0,
  networkMagic: 42,
  slotClock: { zeroTime: 0, zeroSlot: 0, slotLength: 1000 },
  protocolParameters: { ...parameters, ...fees },
  maturityWindow: 0,
  apis: { blockfrost: api, kupo: api, ogmios: api },
})
