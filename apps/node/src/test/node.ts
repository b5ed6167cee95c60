import '@ratatosk/test-kit/answers-hook'
import { Agent, type ClientRequest, get, type IncomingMessage } from 'node:http'
import type { Wallet } from '@ratatosk/layer1'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { type Answer, ask, type Question, until } from '@ratatosk/test-kit/http'
import { whileStarting } from '@ratatosk/test-kit/turns'
import type { Test } from 'tap'
import { type NodeOptions, type RunningNode, readSettings, startNode } from '../index.js'
import { explainFailure } from '../run-node.js'

interface ReadEvent {
  readonly id: string
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: JSON that the test asserts
  readonly data: any
}

/** A client of `/events` that reconnects as `EventSource` does, to one node after the other. */
interface EventReader {
  readonly events: readonly ReadEvent[]
  /** How often it has connected. */
  connections(): number
  /** Cuts the connection, if there is one: the client connects again. */
  drop(): void
  close(): void
}

/** Milliseconds between two connections. */
const retryMs = 50

/** @param urls of `/events`, with their queries; called before each connection */
export function readEvents(urls: () => string): EventReader {
  const events: ReadEvent[] = []
  let lastEventId: string | undefined
  let connections = 0
  let closed = false
  let request: ClientRequest | undefined
  let answer: IncomingMessage | undefined

  function connect(): void {
    if (closed) return
    connections++
    let text = ''
    const again = () => {
      if (!closed) setTimeout(connect, retryMs)
    }
    request = get(
      urls(),
      { agent: false, headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId } },
      (response) => {
        answer = response
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
          const blocks = text.split('\n\n')
          text = blocks.pop() ?? ''
          for (const block of blocks) receive(block)
        })
        response.on('error', () => undefined)
        response.on('close', again)
      },
    )
    request.on('error', (error) => {
      // Otherwise the response has begun, and ends as well.
      if ('code' in error && error.code === 'ECONNREFUSED') again()
    })
  }

  function receive(block: string): void {
    const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]))
    lastEventId = fields.get('id') ?? lastEventId
    const data = fields.get('data')
    if (data === undefined) return
    events.push({ id: lastEventId ?? '', type: fields.get('event') ?? '', data: JSON.parse(data) })
  }

  connect()
  return {
    events,
    connections: () => connections,
    drop: () => void answer?.destroy(),
    close() {
      closed = true
      request?.destroy()
    },
  }
}

/** A seed phrase that no other wallet of the tests has. */
export const watcherPhrase = `${'abandon '.repeat(23)}art`

/** Pays what a watcher needs to the wallet of its phrase, and waits for it. @returns its address */
export async function fundWatcher(
  payer: Wallet,
  included: (id: Uint8Array) => Promise<unknown>,
): Promise<string> {
  const { address, addressText } = keysFromSeedPhrase(watcherPhrase, { networkId: 0 })
  const output = { address: address.bytes, value: { lovelace: 200_000_000n, assets: new Map() } }
  const { id } = await payer.send({ outputs: [output, output, output, output] })
  await included(id)
  return addressText
}

// Compares what the node answers with docs/openapi.json, also where tap does not preload it.

/** Starts a node on a free port until the test ends. It refuses nothing under overload. */
export async function runNode(
  t: Test,
  environment: Readonly<Record<string, string>>,
  options: NodeOptions = {},
): Promise<RunningNode> {
  const usual = { PORT: '0', LOG_LEVEL: 'silent', LOG_FORMAT: 'json', MAX_EVENT_LOOP_DELAY_MS: '0' }
  const settings = readSettings({ ...usual, ...environment })
  const node = await whileStarting(() => startNode(settings, options))
  t.teardown(() => node.close())
  return node
}

/** The message of a start that fails, without a process of its own, which would load the node anew. */
export async function refusalOf(environment: Readonly<Record<string, string>>): Promise<string> {
  const start = async () => startNode(readSettings({ PORT: '0', LOG_LEVEL: 'silent', ...environment }))
  const failure = await start().then(
    async (node) => {
      await node.close()
      return new Error('It started')
    },
    (error: unknown) => error,
  )
  return explainFailure(failure)
}

/** Waits until a node's state queue has its root and no operation is in progress. */
export async function initialised(url: string): Promise<void> {
  await until(
    async () => {
      const { status, body } = await ask(`${url}/stateQueue/root-unit-diagnostics`)
      if (status !== 200) return false
      const diagnostics = JSON.parse(body)
      return diagnostics.status === 'ok' && !diagnostics.resetInProgress
    },
    { what: 'the state queue is initialised' },
  )
}

export function submit(url: string, body: string | Buffer): Promise<Answer> {
  return ask(`${url}/submit`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body })
}

/** Sends a request; the answer is without its id, which no two answers share. */
export async function askExact(url: string, question: Question = {}): Promise<Answer> {
  const { headers, ...answer } = await ask(url, question)
  const { 'x-request-id': id, ...rest } = headers
  if (id === undefined) throw new Error(`${url} answered without X-Request-Id`)
  return { ...answer, headers: rest }
}

/** Asks one node many things over few connections. */
export interface KeepAliveClient {
  get(path: string): Promise<Answer>
  /** Posts a transaction; returns the submission's id, and fails where the answer is not 200. */
  submit(cborHex: string): Promise<string>
}

export function keepAliveClient(t: Test, url: string, connections = 16): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  t.teardown(() => agent.destroy())
  return {
    get: (path) => ask(`${url}${path}`, { agent }),
    async submit(cborHex) {
      const headers = { 'content-type': 'text/plain' }
      const { status, body } = await ask(`${url}/submit`, { method: 'POST', headers, body: cborHex, agent })
      if (status !== 200) throw new Error(`/submit answered ${status}: ${body}`)
      return JSON.parse(body).id
    },
  }
}
