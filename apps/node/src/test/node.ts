// Compares what the node answers with docs/openapi.json, also where tap does not preload it.
import '@ratatosk/test-kit/answers-hook'
import { type Answer, ask, type Question, until } from '@ratatosk/test-kit/http'
import { whileStarting } from '@ratatosk/test-kit/turns'
import type { Test } from 'tap'
import { type NodeOptions, type RunningNode, readSettings, startNode } from '../index.js'
import { explainFailure } from '../run-node.js'

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
